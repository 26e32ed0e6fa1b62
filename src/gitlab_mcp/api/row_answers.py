"""What is special about the answers of single rows, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHOWN_ONCE: Final[Mapping[str, str]] = {
    "application.create": "secret",
    "application.renew_secret": "secret",
    "cluster_agent_token.create": "token",
    "code_suggestion.create_access_token": "token",
    "duo_workflow.create_access_token": "token",
    "own_application.create": "secret",
    "own_group_token.rotate": "token",
    "own_project_token.rotate": "token",
    "own_token.rotate": "token",
    "group_manage_personal_access_token.rotate": "token",
    "group_manage_resource_access_token.rotate": "token",
    "group_secrets_manager_access_token.create": "token access_token",
    "project_secrets_manager_access_token.create": "token access_token",
    "project_service_account_personal_access_token.create": "token",
    "project_service_account_personal_access_token.rotate": "token",
    "project_trigger.create": "token",
    "runner_controller_token.create": "token",
    "runner_controller_token.rotate": "token",
    "third_party_agent.create_access_token": "token",
    "user_impersonation_token.create": "token",
}
"""What makes a secret that GitLab shows this once: the members of the answer that are not hidden."""

RAW: Final = frozenset({
    "duo_workflow.get_trace", "group_avatar.get", "group_debian_distribution.get_key", "group_export.download",
    "group_export_relation.download", "license_usage_export.get", "merge_request_raw_diff.list", "project_avatar.get",
    "project_attestation.download", "project_debian_distribution.get_key", "project_export.download",
    "project_export_relation.download", "project_google_cloud_setup.get_integrations_script",
    "project_google_cloud_setup.get_runner_script", "project_mlflow_artifact.get",
    "project_package_package_file.download", "project_secure_file.download", "project_snapshot.download",
    "project_terraform_state.get", "project_terraform_state_version.get", "release_asset.download",
    "repository_archive.download", "repository_blob_raw.get", "repository_file_raw.get",
    "security_vulnerability_archive_export.download",
})  # fmt: skip
"""What is answered with a file, or with plain text: it is shown as the content of a file is."""

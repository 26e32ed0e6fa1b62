"""How dangerous a row is: by its method, and more by what it is called. The one table of it.

What gives rights, hands out or shows a secret, or lets something past a protection is asked about at least; what
reaches far is dangerous, as the like of it is among the tools. What only an administrator may write reaches far.
`docs/reference/rows.md` prints what comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

READ, REVERSIBLE, DESTRUCTIVE, DANGEROUS = "read", "reversible", "destructive", "dangerous"
LEVELS: Final = (READ, REVERSIBLE, DESTRUCTIVE, DANGEROUS)
BY_METHOD: Final[Mapping[str, str]] = {
    "GET": READ,
    "POST": REVERSIBLE,
    "PUT": REVERSIBLE,
    "PATCH": REVERSIBLE,
    "DELETE": DESTRUCTIVE,
}

READS_BY_POST: Final = frozenset({
    "admin_token.identify", "code_suggestion.check_enabled", "glql.query", "markdown.render", "repository_blob.list",
    "orbit_query.run", "orbit_query_template.run", "project_mlflow_experiment.search", "project_mlflow_run.search",
    "project_mlflow_registered_model.get_latest_versions", "project_product_analytics_request_load.create",
    "project_product_analytics_request_dry_run.create", "project_product_analytics_request_meta.create",
})  # fmt: skip
"""POST because the question is long, not because anything changes."""

SHOWS_A_SECRET: Final[Mapping[str, str]] = {
    "own_support_pin.get": "whoever knows it can speak to GitLab's support as you",
    "user_support_pin.get": "whoever knows it can speak to GitLab's support as the user",
    "project_secure_file.download": "secure files are keys, certificates and profiles",
    "project_terraform_state.get": "a state holds the secrets of what it describes",
    "project_terraform_state_version.get": "a state holds the secrets of what it describes",
    "project_snapshot.download": "it is the repository with all that is unreachable in it",
    "group_export.download": "it holds all of the group",
    "project_export.download": "it holds all of the project",
    "group_export_relation.download": "it holds much of the group",
    "project_export_relation.download": "it holds much of the project",
}
"""Reads that a person is asked about, so they count as destructive."""

WIDER: Final[tuple[tuple[str, str, str], ...]] = (
    (DANGEROUS, r"_member\.|member_state", "somebody gets or loses rights"),
    (DANGEROUS, r"member_role\.", "it changes what people with the role may do"),
    (DANGEROUS, r"(?:ldap|saml)_group_link\.|\.sync_ldap|\.import_members|ldap_role$", "people get or lose rights"),
    (DANGEROUS, r"(?:saml|scim)_identity\.|^user_identity\.", "it changes who can sign in as whom"),
    (DANGEROUS, r"^user\.(?!follow|unfollow)|^user_email\.|enterprise_user\.", "it is about an account"),
    (DANGEROUS, r"service_account", "an account that can act, or a token of it"),
    (DANGEROUS, r"take_project|transfer|set_forked_from|shared_project", "it changes hands, and who may see it"),
    (DANGEROUS, r"placeholder_reassignment", "people become the authors of what was imported"),
    (DANGEROUS, r"^own_email\.create", "a password can be set anew by it"),
    (DANGEROUS, r"(?:token|key|trigger|certificate)\.(?:create|rotate|add)", "whoever has it can act with it"),
    (DANGEROUS, r"access_token|direct_access|renew_secret|get_connection_details", "it hands out a token"),
    (DANGEROUS, r"application\.(?:create|update|delete)", "applications ask people for access with it"),
    (DANGEROUS, r"token\.(?:revoke|delete)|_key\.delete|impersonation", "what uses it stops working"),
    (DESTRUCTIVE, r"\.delete$", "it is gone"),
    (DESTRUCTIVE, r"trigger\.(?:update|delete)|certificate\.delete|support_pin\.", "it stops working, or is another's"),
    (DANGEROUS, r"protection_\w*rule\.|branch\.(?:un)?protect$", "it changes a protection"),
    (DANGEROUS, r"approval_settings_rule\.|project_approval\.|merge_request_approval\.", "it changes who must approve"),
    (DANGEROUS, r"security_settings\.|security_policy\.|compliance|managed_license", "it changes a protection"),
    (DANGEROUS, r"(?:remote|pull)_mirror\.(?:create|update)", "code goes to another server, or comes from one"),
    (DANGEROUS, r"_integration\.|flow_callback\.create", "another service is told what happens, or can act"),
    (DANGEROUS, r"^offline_export\.create", "all of it goes to a storage that the call names"),
    (DESTRUCTIVE, r"pull_mirror\.start|remote_mirror\.sync", "branches here, or on the other server, are overwritten"),
    (DESTRUCTIVE, r"import|offline_|bulk_import", "much is copied between servers"),
    (DESTRUCTIVE, r"export(?:_relation)?\.create", "all of it is made ready to be taken along"),
    (DESTRUCTIVE, r"schedule_variable|pipeline\.trigger", "it changes what jobs do"),
    (DESTRUCTIVE, r"cluster\.|cluster_agent\w*\.|url_configuration\.", "jobs act in a cluster with it"),
    (DANGEROUS, r"(?:_cluster|cluster_agent)\.delete", "a cluster is cut off"),
    (DANGEROUS, r"runner_controller", "it decides which jobs run"),
    (DANGEROUS, r"virtual_registry(?!\w*\.test$)", "images and packages come from another server"),
    (DESTRUCTIVE, r"^vulnerability|vulnerability\.create", "somebody vouches for it"),
    (DESTRUCTIVE, r"\.(?:merge|move|promote|publish|reset|cancel|lock|unlock|apply|resend)$", "it is not taken back"),
    (DESTRUCTIVE, r"submodule\.update|create_ci_config|scan_code", "it is committed, or sent to be looked at"),
    (DESTRUCTIVE, r"pages\.update|pages_domain\.", "people reach the site otherwise, or not at all"),
    (DESTRUCTIVE, r"secure_file\.create|error_tracking_client_key|push_subscription", "others can act with it"),
    (DESTRUCTIVE, r"duo_workflow|third_party_agent", "something acts on its own"),
    (DANGEROUS, r"pages\.delete|repository_storage_move\.|storage_move\.", "all of it is gone, or moved"),
    (DANGEROUS, r"^organization\.|^namespace(?!_work_item)|terraform_state\.delete", "it reaches far"),
    (DANGEROUS, r"\.delete_all$|dependency_proxy_cache\.|virtual_registry_cleanup", "all of it is gone"),
)  # fmt: skip
"""Of writes: the level, a pattern of names, and why. A row has the highest level of those that fit it."""


NOT_THE_ADMINISTRATORS: Final = frozenset({"user.follow", "user.unfollow"})
"""Writes of the toolset admin that everybody may make."""


def danger_of(name: str, method: str, toolset: str) -> str:
    if name in READS_BY_POST:
        return READ
    if method == "GET":
        return DESTRUCTIVE if name in SHOWS_A_SECRET else READ
    levels = [level for level, pattern, _ in WIDER if re.search(pattern, name)]
    if toolset == "admin" and name not in NOT_THE_ADMINISTRATORS:
        levels.append(DANGEROUS)
    return max([BY_METHOD[method], *levels], key=LEVELS.index)


def why(name: str) -> str:
    """In a few words, why it is more than its method says; nothing where only the method or the toolset says it."""
    found = [(level, because) for level, pattern, because in WIDER if re.search(pattern, name)]
    return SHOWS_A_SECRET.get(name) or max(found, key=lambda each: LEVELS.index(each[0]), default=("", ""))[1]

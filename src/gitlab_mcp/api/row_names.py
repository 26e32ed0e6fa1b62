"""What a row is called: `noun.verb`, by its method and path alone, so that a name stays from release to release.

    GET     /projects/:id/badges                                project_badge.list
    PUT     /projects/:id/badges/:badge_id                      project_badge.update
    POST    /projects/:id/remote_mirrors/:mirror_id/sync        project_remote_mirror.sync
    DELETE  /groups/:id/epics/:epic_iid/notes/:note_id          epic_note.delete
    PUT     /projects/:id/integrations/asana                    project_asana_integration.set

The noun is the words of the path, each collection in the singular, without ids. What only projects have (issues, merge
requests, pipelines) or only groups (epics) is not said to be theirs. The last word is the verb where it is one; else
the method is: of GET, `list` for a collection and `get` for one thing; `create`, `update`, `delete`; `delete_all` for a
whole collection. Where that says the wrong thing, or says the same of two endpoints, NAMES has the name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitlab_mcp.api.endpoints import normalised

VERBS: Final = frozenset({
    "activate", "add", "apply", "approve", "approve_all", "ban", "block", "cancel", "confirm", "create", "deactivate",
    "delete", "disable_two_factor", "dismiss", "follow", "get-latest-versions", "lock", "log-batch", "log-metric",
    "log-parameter", "mark", "merge", "pause", "promote", "protect", "publish", "reject", "renew-secret", "replay",
    "resend", "resolve", "restart", "resume", "revert", "revoke", "rollback", "rollout", "rotate", "search",
    "seed_external_agents", "set-experiment-tag", "set-tag", "start", "stop", "sync", "test",
    "transfer_to_organization", "unban", "unblock", "unfollow", "unprotect", "update", "verify",
    "refresh_billable_users",
})  # fmt: skip
"""Last words of a path that say what is done there."""
VERBS_OF_GET: Final = frozenset({
    "download", "exists", "get", "get-by-name", "get-download-uri", "get-history", "list", "render", "search",
})  # fmt: skip
_BY_METHOD: Final[Mapping[str, str]] = {
    "POST": "create",
    "PUT": "update",
    "PATCH": "update",
    "DELETE": "delete",
    "HEAD": "check",
}
ONE_HOME: Final[Mapping[str, str]] = {
    "issues": "projects",
    "merge_requests": "projects",
    "pipelines": "projects",
    "pipeline_schedules": "projects",
    "jobs": "projects",
    "releases": "projects",
    "cluster_agents": "projects",
    "repository": "projects",
    "epics": "groups",
}
"""Collections that are only in projects, or only in groups."""
FILLERS: Final = frozenset({"ai", "api", "v1", "v4", "2.0", "-", "ml", "mlflow-artifacts"})
UNCOUNTED: Final = frozenset({"award_emoji"})
"""Collections without a plural."""
SINGULAR: Final[Mapping[str, str]] = {
    "analytics": "analytics",
    "alias": "alias",
    "aliases": "alias",
    "wiki_pages": "wiki_page",
    "wikis": "wiki",
    "minutes": "minutes",
    "branches": "branch",
    "caches": "cache",
    "children": "child",
    "compound_metrics": "compound_metrics",
    "databases": "database",
    "details": "details",
    "duo_code_review": "duo_code_review",
    "entries": "entry",
    "job_stats": "job_stats",
    "licenses": "license",
    "ldap": "ldap",
    "metrics": "metrics",
    "pages": "pages",
    "preferences": "preferences",
    "process_metrics": "process_metrics",
    "queue_metrics": "queue_metrics",
    "releases": "release",
    "settings": "settings",
    "settings_sync": "settings_sync",
    "statistics": "statistics",
    "status": "status",
    "appearance": "appearance",
}
"""Words whose singular is not found by taking an ending away; those that name one thing are their own."""
ENDINGS_OF_ONE_THING: Final = (
    "settings",
    "metrics",
    "preferences",
    "details",
    "stats",
    "status",
    "analytics",
    "pages",
)

NAMES: Final[Mapping[str, str]] = {
    "DELETE /admin/sidekiq/queues/*": "admin_sidekiq_queue.delete_jobs",
    "DELETE /admin/token": "admin_token.revoke",
    "DELETE /experiments/*/assignments": "experiment_assignment.delete",
    "DELETE /features/*": "gitlab_feature.reset",
    "DELETE /groups/*/labels": "group_label.delete",
    "DELETE /groups/*/ldap_group_links": "group_ldap_group_link.delete",
    "DELETE /groups/*/ldap_group_links/*": "group_ldap_group_link.delete_by_cn",
    "DELETE /groups/*/ldap_group_links/*/*": "group_ldap_group_link.delete_of_provider",
    "DELETE /groups/*/members/*/override": "group_member.restore_ldap_role",
    "DELETE /groups/*/saml/*": "group_saml_identity.delete",
    "DELETE /groups/*/scim/*": "group_scim_identity.delete",
    "DELETE /personal_access_tokens/self": "own_token.revoke",
    "DELETE /projects/*/labels": "project_label.delete",
    "DELETE /projects/*/metrics/user_starred_dashboards": "project_starred_dashboard.delete",
    "DELETE /projects/*/terraform/state/*/lock": "project_terraform_state.unlock",
    "DELETE /runner_controllers/*/scopes/instance": "runner_controller_scope.remove_instance",
    "DELETE /runner_controllers/*/scopes/runners/*": "runner_controller_scope.remove_runner",
    "DELETE /user/push_subscriptions": "own_push_subscription.delete",
    "GET /admin/data_management/*": "admin_data_record.list",
    "GET /admin/data_management/*/*": "admin_data_record.get",
    "GET /admin/migrations/pending": "admin_migration.list_pending",
    "GET /ai/duo_workflows/list_tools": "duo_workflow_tool.list",
    "GET /ai/duo_workflows/workflows/*/trace.jsonl": "duo_workflow.get_trace",
    "GET /ai/duo_workflows/workflows/agent_privileges": "duo_workflow_privilege.list",
    "GET /bulk_imports/entities": "bulk_import_entity.list_all",
    "GET /discover-cert-based-clusters": "certificate_cluster.discover",
    "GET /features": "gitlab_feature.list",
    "GET /features/definitions": "gitlab_feature.list_definitions",
    "GET /group_repository_storage_moves": "admin_group_storage_move.list",
    "GET /group_repository_storage_moves/*": "admin_group_storage_move.get",
    "GET /groups/*/billable_members/*/indirect": "group_billable_member_indirect_membership.list",
    "GET /groups/*/debian_distributions/*/key.asc": "group_debian_distribution.get_key",
    "GET /groups/*/runners/all": "group_runner.list_all",
    "GET /groups/*/saml/*": "group_saml_identity.get",
    "GET /groups/*/scim/*": "group_scim_identity.get",
    "GET /job": "own_job.get",
    "GET /job/allowed_agents": "own_job_allowed_agent.list",
    "GET /keys": "key.get_by_fingerprint",
    "GET /ldap/*/groups": "ldap_provider_group.list",
    "GET /license": "license.get_current",
    "GET /organizations/*/security/policy_store": "organization_security_policy.list",
    "GET /organizations/*/security/policy_store/*": "organization_security_policy.get",
    "DELETE /organizations/*/security/policy_store/*": "organization_security_policy.delete",
    "GET /personal_access_tokens/self/associations": "own_token_association.list",
    "GET /project_repository_storage_moves": "admin_project_storage_move.list",
    "GET /project_repository_storage_moves/*": "admin_project_storage_move.get",
    "GET /projects/*/debian_distributions/*/key.asc": "project_debian_distribution.get_key",
    "GET /projects/*/google_cloud/setup/integrations.sh": "project_google_cloud_setup.get_integrations_script",
    "GET /projects/*/google_cloud/setup/runner_deployment_project.sh": "project_google_cloud_setup.get_runner_script",
    "GET /projects/*/mirror/pull": "project_pull_mirror.get",
    "GET /projects/*/registry/protection/rules": "project_registry_protection_rule.list",
    "GET /projects/*/releases/*/downloads/*": "release_asset.download",
    "GET /projects/*/releases/permalink/latest": "release.get_latest",
    "GET /projects/*/repository/archive": "repository_archive.download",
    "GET /projects/*/search/semantic": "project.search_semantic",
    "GET /projects/*/snapshot": "project_snapshot.download",
    "GET /snippet_repository_storage_moves": "admin_snippet_storage_move.list",
    "GET /snippet_repository_storage_moves/*": "admin_snippet_storage_move.get",
    "GET /snippets/all": "snippet.list_all",
    "GET /snippets/public": "snippet.list_public",
    "PATCH /namespaces/*/minutes/move/*": "namespace_minutes.move",
    "PATCH /user/status": "own_status.update",
    "POST /admin/token": "admin_token.identify",
    "POST /ai/duo_workflows/direct_access": "duo_workflow.create_access_token",
    "POST /ai/llm/git_command": "git_command.suggest",
    "POST /ai/third_party_agents/direct_access": "third_party_agent.create_access_token",
    "POST /code_suggestions/connection_details": "code_suggestion.get_connection_details",
    "POST /code_suggestions/direct_access": "code_suggestion.create_access_token",
    "POST /code_suggestions/enabled": "code_suggestion.check_enabled",
    "POST /features/*": "gitlab_feature.set",
    "POST /glql": "glql.query",
    "POST /group_repository_storage_moves": "admin_group_storage_move.create_all",
    "POST /groups/*/clusters/user": "group_cluster.add",
    "POST /groups/*/epics/*/epics": "epic_child.create",
    "PUT /groups/*/epics/*/epics/*": "epic_child.reorder",
    "PUT /groups/*/epics/*/issues/*": "epic_issue.reorder",
    "POST /groups/*/ldap_sync": "group.sync_ldap",
    "POST /groups/*/members/*/override": "group_member.override_ldap_role",
    "POST /groups/*/projects/*": "group.take_project",
    "POST /groups/*/work_items/*/children/*": "group_work_item_child.add",
    "POST /namespaces/*/work_items/*/children/*": "namespace_work_item_child.add",
    "POST /projects/*/work_items/*/children/*": "project_work_item_child.add",
    "POST /hooks": "system_hook.create",
    "POST /hooks/*": "system_hook.test",
    "GET /hooks": "system_hook.list",
    "GET /hooks/*": "system_hook.get",
    "PUT /hooks/*": "system_hook.update",
    "DELETE /hooks/*": "system_hook.delete",
    "PUT /hooks/*/custom_headers/*": "system_hook_custom_header.set",
    "DELETE /hooks/*/custom_headers/*": "system_hook_custom_header.delete",
    "PUT /hooks/*/url_variables/*": "system_hook_url_variable.set",
    "DELETE /hooks/*/url_variables/*": "system_hook_url_variable.delete",
    "POST /import/bitbucket": "bitbucket_import.create",
    "POST /import/bitbucket_server": "bitbucket_server_import.create",
    "POST /import/github": "github_import.create",
    "POST /import/github/cancel": "github_import.cancel",
    "POST /import/github/gists": "github_gist_import.create",
    "POST /license": "license.add",
    "POST /markdown": "markdown.render",
    "POST /namespaces/*/minutes": "namespace_minutes.add",
    "POST /orbit/agent/commands/*": "orbit_agent_command.run",
    "POST /orbit/query": "orbit_query.run",
    "POST /orbit/query/*": "orbit_query_template.run",
    "POST /personal_access_tokens/self/rotate": "own_token.rotate",
    "POST /groups/*/access_tokens/self/rotate": "own_group_token.rotate",
    "POST /projects/*/access_tokens/self/rotate": "own_project_token.rotate",
    "POST /project_repository_storage_moves": "admin_project_storage_move.create_all",
    "POST /projects/*/clusters/user": "project_cluster.add",
    "POST /admin/clusters/add": "admin_cluster.add",
    "POST /projects/*/create_ci_config": "project.create_ci_config",
    "POST /projects/*/fork/*": "project.set_forked_from",
    "POST /projects/*/import/git": "project.import_repository",
    "POST /projects/*/import_project_members/*": "project.import_members",
    "POST /projects/*/metrics/user_starred_dashboards": "project_starred_dashboard.create",
    "POST /projects/*/mirror/pull": "project_pull_mirror.start",
    "POST /projects/*/repository/blobs/batch": "repository_blob.list",
    "POST /projects/*/repository_size": "project.recalculate_repository_size",
    "POST /projects/*/security_scans/sast/*": "project.scan_code",
    "POST /projects/*/trigger/pipeline": "pipeline.trigger",
    "POST /projects/import-relation": "project_relation.import",
    "GET /projects/*/relation-imports": "project_relation.list_imports",
    "POST /projects/remote-import": "project.import_from_url",
    "POST /projects/remote-import-s3": "project.import_from_s3",
    "POST /projects/import": "project.import_file",
    "POST /groups/import": "group.import_file",
    "POST /projects/user/*": "user_project.create",
    "POST /runner_controllers/*/scopes/instance": "runner_controller_scope.add_instance",
    "POST /runner_controllers/*/scopes/runners/*": "runner_controller_scope.add_runner",
    "POST /snippet_repository_storage_moves": "admin_snippet_storage_move.create_all",
    "POST /vulnerabilities/*/flags/ai_detection": "vulnerability_ai_flag.create",
    "POST /virtual_registries/container/registries/*/upstreams": "virtual_registry_container_upstream.create",
    "GET /virtual_registries/container/registries/*/upstreams": "virtual_registry_container_upstream.list",
    "POST /virtual_registries/packages/maven/registries/*/upstreams": "virtual_registry_maven_upstream.create",
    "GET /virtual_registries/packages/maven/registries/*/upstreams": "virtual_registry_maven_upstream.list",
    "PUT /admin/data_management/*/*/checksum": "admin_data_record.recalculate_checksum",
    "PUT /admin/data_management/*/checksum": "admin_data_record.recalculate_checksums",
    "PUT /admin/zoekt/projects/*/index": "admin_zoekt_project.index",
    "PUT /groups/*/members/*/state": "group_member.set_state",
    "PATCH /groups/*/saml/*": "group_saml_identity.update",
    "PATCH /groups/*/scim/*": "group_scim_identity.update",
    "PATCH /projects/*/error_tracking/settings": "project_error_tracking_settings.update",
    "PUT /projects/*/error_tracking/settings": "project_error_tracking_settings.set",
    "PUT /projects/*/mirror/pull": "project_pull_mirror.update",
    "PUT /user/status": "own_status.set",
}
"""By normalised endpoint."""


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a path, and whether the one thing of it is named by an id."""

    word: str
    has_id: bool


def name_of(endpoint: str) -> str:
    key = normalised(endpoint)
    if key in NAMES:
        return NAMES[key]
    method, path = key.split(" ", 1)
    parts = parts_of(path)
    verb = verb_of(method, parts)
    if verb == "set":
        *before, _, slug = parts
        return f"{_joined(before)}_{_plain(slug.word)}_integration.set"
    nouns = parts[:-1] if _says_verb(method, parts) and len(parts) > 1 else parts
    return f"{_joined(nouns)}.{verb}"


def parts_of(path: str) -> list[Part]:
    """The words of a normalised path that make a name."""
    segments = [segment for segment in path.split("/")[1:] if segment not in FILLERS]
    if "virtual_registries" in segments:
        segments = [segment for segment in segments if segment not in ("packages", "remote")]
        if segments[-2:] == ["local", "upstreams"]:
            segments = [*segments[:-4], "local", "upstreams"]
    if segments[:2] == ["duo_workflows", "workflows"]:
        segments = segments[1:]
        segments[0] = "duo_workflows"
    parts = [
        Part(segment, segments[place + 1 : place + 2] == ["*"])
        for place, segment in enumerate(segments)
        if segment != "*"
    ]
    return [each for place, each in enumerate(parts) if not place or each.word != parts[place - 1].word]


def verb_of(method: str, parts: Sequence[Part]) -> str:
    last = parts[-1]
    if _says_verb(method, parts):
        return _plain(last.word)
    if len(parts) > 1 and parts[-2].word == "integrations" and not parts[-2].has_id and method == "PUT":
        return "set"
    if method == "GET":
        return "list" if is_collection(last) else "get"
    if method == "DELETE" and is_collection(last):
        return "delete_all"
    return _BY_METHOD[method]


def is_collection(part: Part) -> bool:
    """Whether it stands for several things: a plural, and no id behind it."""
    return not part.has_id and (part.word in UNCOUNTED or singular(part.word) != part.word)


def singular(word: str) -> str:
    """Of the last word: `remote_mirrors` is `remote_mirror`."""
    if word in SINGULAR:
        return SINGULAR[word]
    head, _, last = word.rpartition("_")
    if head and last in SINGULAR:
        return f"{head}_{SINGULAR[last]}"
    if word.endswith((*ENDINGS_OF_ONE_THING, "ss", "us", "is")) or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "xes", "shes", "tches", "anches")) else word[:-1]


def scope_and_rest(parts: Sequence[Part]) -> tuple[str, Sequence[Part]]:
    """The words for whose it is, and the parts behind: `own` for what is the caller's."""
    first, *rest = parts
    if first.word == "user" and not first.has_id:
        return "own", rest
    if rest and ONE_HOME.get(rest[0].word) == first.word and first.has_id:
        return "", rest
    return "", parts


def _joined(parts: Sequence[Part]) -> str:
    scope, rest = scope_and_rest(parts)
    words = [_plain(singular(part.word)) for part in rest]
    return "_".join(filter(None, [scope, *words]))


def _says_verb(method: str, parts: Sequence[Part]) -> bool:
    last = parts[-1]
    return not last.has_id and last.word in (VERBS_OF_GET if method == "GET" else VERBS)


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")

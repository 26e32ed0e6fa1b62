"""How dangerous a row is: by its method, made more or less of by what it is called. The one table of it.

`docs/reference/rows.md` prints what comes of it. What gives rights, shows a secret or lets something past a protection
is at least asked about; what reaches far is dangerous, as the same is of the tools.
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
    "project_mlflow_registered_model.get_latest_versions",
})  # fmt: skip
"""POST because the question is long, not because anything changes."""

WIDER: Final[tuple[tuple[str, str, str], ...]] = (
    # Rights.
    (DANGEROUS, r"(?:^|_)(?:member|pending_member|billable_member)\.(?!get|list)", "somebody gets or loses rights"),
    (DANGEROUS, r"member_role\.(?:create|update|delete)", "it changes what people with the role may do"),
    (DANGEROUS, r"(?:ldap_group_link|saml_group_link)\.(?!get|list)", "people get or lose rights with it"),
    (DANGEROUS, r"(?:sync_ldap|import_members|override_ldap_role|restore_ldap_role)$", "people get or lose rights"),
    (DANGEROUS, r"(?:saml|scim)_identity\.(?!get|list)|^user_identity\.", "it changes who can sign in as whom"),
    (DANGEROUS, r"^user\.(?!follow|unfollow)|^user_email\.|enterprise_user\.(?!get|list)", "it is about an account"),
    (DANGEROUS, r"service_account\.(?!get|list)", "an account that can act"),
    (DANGEROUS, r"take_project|transfer|set_forked_from|_project\.delete$|^user_project\.", "a project changes hands"),
    # Tokens, keys and other secrets.
    (DANGEROUS, r"(?:token|key|trigger|certificate)\.(?:create|rotate|add)", "whoever has it can act with it"),
    (DANGEROUS, r"access_token$|(?:create|renew)_(?:access_token|secret)$|direct_access", "it hands out a token"),
    (DANGEROUS, r"^(?:own_)?application\.(?:create|update|renew_secret)", "an application can then ask for access"),
    (DESTRUCTIVE, r"(?:token|key|trigger|certificate|pin|application)\.(?:delete|revoke|update)", "it stops working"),
    (DANGEROUS, r"^(?:group_)?(?:own_)?(?:group_|admin_)?token\.revoke$|manage_\w+\.delete", "what uses it stops working"),
    (DESTRUCTIVE, r"^(?:own|user)_support_pin\.", "it proves to GitLab's support who one is"),
    (DESTRUCTIVE, r"secure_file\.download|terraform_state(?:_version)?\.get$", "it may hold secrets"),
    (DESTRUCTIVE, r"schedule_variable\.(?:create|update)", "it changes what the jobs do"),
    # Protections.
    (DANGEROUS, r"protection_\w*rule\.(?!get|list)|branch\.(?:un)?protect$", "it changes a protection"),
    (DANGEROUS, r"approval_settings_rule\.|project_approval\.|merge_request_approval\.create", "it changes who approves"),
    (DANGEROUS, r"security_settings\.|security_policy\.|compliance", "it changes a protection"),
    (DANGEROUS, r"managed_license\.(?!get|list)", "it changes which licenses pass"),
    # Code and data leave, or come from elsewhere.
    (DANGEROUS, r"(?:remote|pull)_mirror\.(?:create|update)", "code goes to, or comes from, another server"),
    (DANGEROUS, r"(?:integration)\.(?:set|delete)", "another service is told what happens, or can act"),
    (DANGEROUS, r"^system_hook\w*\.(?!get|list|test)|flow_callback\.create", "another service is told what happens"),
    (DESTRUCTIVE, r"import\.create|\.import(?:_\w+)?$|bulk_import\.|offline_(?:import|export)\.", "much is copied"),
    (DESTRUCTIVE, r"export\.create|export_relation\.create|\.export$", "all of it is made ready to be taken along"),
    (DESTRUCTIVE, r"(?:cluster|agent|url_configuration)\.(?:add|create|update)", "jobs can act in a cluster with it"),
    (DANGEROUS, r"(?:cluster|agent)\.delete", "a cluster is cut off"),
    (DANGEROUS, r"^runner_controller\w*\.(?!get|list)", "it decides which jobs run"),
    (DANGEROUS, r"virtual_registry_container_(?:upstream|registry|registry_upstream)\.(?:create|update|delete|test)",
     "images come from another server, with the password of it"),
    # What people vouch for, and what is gone afterwards.
    (DESTRUCTIVE, r"^vulnerability\.|vulnerability\w*\.create|ai_flag\.create", "somebody vouches for it"),
    (DESTRUCTIVE, r"\.(?:merge|move|promote|publish|reset|cancel|lock|unlock|apply|trigger)$", "it cannot be taken back"),
    (DESTRUCTIVE, r"^suggestion\.|submodule\.update|create_ci_config$", "it is committed"),
    (DESTRUCTIVE, r"pages\.update|pages_domain\.", "people reach the site otherwise, or not at all"),
    (DANGEROUS, r"pages\.delete|snippet\.delete_all|repository_storage_move\.", "all of it is gone, or moved"),
    (DANGEROUS, r"organization\.(?:create|delete)|namespace_?\w*\.(?!get|list|exists)(?<!work_item\.)", "it reaches far"),
    (DANGEROUS, r"wiki_page\.delete_all|delete_all$|dependency_proxy_cache\.delete", "all of it is gone"),
)  # fmt: skip
"""The level, a pattern of names, and why. A row has the highest level of those that fit it."""

NOT_SO: Final[Mapping[str, tuple[str, str]]] = {
    "namespace_work_item.create": (REVERSIBLE, "one work item"),
    "namespace_work_item.update": (REVERSIBLE, "one work item"),
    "namespace_work_item.delete": (DESTRUCTIVE, "one work item"),
    "namespace_work_item_child.add": (REVERSIBLE, "one work item"),
    "project_terraform_state_protection_rule.list": (READ, "it only reads"),
    "experiment_assignment.delete": (DANGEROUS, "it is the administrator's"),
}
"""Where a pattern says too much."""


def danger_of(name: str, method: str, role: str | None) -> str:
    if name in NOT_SO:
        return NOT_SO[name][0]
    if name in READS_BY_POST:
        return READ
    level = BY_METHOD[method]
    fitting = [each for each, pattern, _ in WIDER if re.search(pattern, name)]
    if method == "GET":
        # What only reads asks only where it shows a secret, and that is said of it by name.
        fitting = [each for each, pattern, _ in WIDER if re.search(pattern, name) and pattern in _OF_SECRETS]
    if level != READ and role == "admin":
        fitting.append(DANGEROUS)
    return max([level, *fitting], key=LEVELS.index)


def why(name: str) -> str:
    """What is said beside it in the table, of the first pattern that fits."""
    return next((because for _, pattern, because in WIDER if re.search(pattern, name)), "")


_OF_SECRETS: Final = frozenset(
    pattern for _, pattern, _ in WIDER if "support_pin" in pattern or "secure_file" in pattern
)

"""Actions whose example is not played as alice on the oldest GitLab that was recorded.

`RECORDED_ELSEWHERE` is played as somebody else, on another version or with other arguments. For `NOT_RECORDED` there is
no answer anywhere, with the reason; everything else about those is tested all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.versions import NEWEST, OLDEST


@dataclass(frozen=True, slots=True)
class Recorded:
    version: str = OLDEST
    caller: str = "alice"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """What the action is given in place of its example."""


_NEWEST = Recorded(NEWEST)
_ROOT = Recorded(caller="root")
_BOB = Recorded(caller="bob")


def _wanda(**arguments: Any) -> Recorded:
    return Recorded(caller="wanda", arguments=arguments)


SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILBGgVlK8CyH64GTfn6TeQxkeirl7AMzO3CpsXz/bLRO wanda@example.com"
GPG_KEY = """-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEavptqxYJKwYBBAHaRw8BAQdAuQJZr85V09KMgcfqQ2ryrjvUhKS5Be9kSqBF
CkbkMOe0GXdhbmRhIDx3YW5kYUBleGFtcGxlLmNvbT6IkAQTFggAOBYhBPrivcth
qO2WfOg2o9Ch275mawDOBQJq+m2rAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheA
AAoJENCh275mawDOqtEA/3Zw0ex3S0MMpcjlhjYj1cTzcS08P9mWR5tB9ufu0tyj
AP946LhkwWzUeleDBVW1DAXqN0/d5G75DZdiuVNhjtnwDg==
=VGsC
-----END PGP PUBLIC KEY BLOCK-----
"""
INSTANCE_VARIABLE = {
    "key": "WRITES_INSTANCE_KEY",
    "value": "example-value-1",
    "masked": False,
    "protected": False,
    "raw": True,
    "variable_type": "env_var",
}

RECORDED_ELSEWHERE: dict[str, Recorded] = {
    "browse_uploads list": _NEWEST,
    "browse_uploads get": _NEWEST,
    "browse_uploads by_address": _NEWEST,
    "manage_upload delete": _NEWEST,
    "manage_todo mark_done": _NEWEST,
    "manage_todo mark_all_done": _NEWEST,
    "browse_variables list_instance": _ROOT,
    "browse_variables get_instance": _ROOT,
    "manage_variable set": _NEWEST,
    "manage_variable create_instance": Recorded(caller="root", arguments=INSTANCE_VARIABLE),
    "manage_variable update_instance": _ROOT,
    "manage_variable delete_instance": _ROOT,
    "browse_instance_details statistics": Recorded(NEWEST, "root"),
    "browse_instance_details templates": _NEWEST,
    "browse_instance_details template": _NEWEST,
    "browse_user_details memberships": _ROOT,
    "manage_subscription unsubscribe": _BOB,
    "manage_subscription create_todo": _BOB,
    "manage_label subscribe": _wanda(project_id="23", label_id="defect"),
    "manage_label unsubscribe": _wanda(project_id="23", label_id="defect"),
    "manage_discussion update_note": _BOB,
    "manage_discussion delete_note": _BOB,
    "manage_group archive": _NEWEST,
    "manage_group unarchive": _NEWEST,
    "manage_group make_top_level": Recorded(NEWEST, arguments={"group_id": "227"}),
    "manage_member request_access": Recorded(caller="wilma"),
    "browse_service_accounts list": _NEWEST,
    "manage_service_account create_role": _ROOT,
    "manage_service_account delete_role": _ROOT,
    "browse_ci_config jobs": Recorded(arguments={"project_id": "acme/shop"}),
    "browse_runners list_all": _ROOT,
    "browse_runners projects": _NEWEST,
    "manage_schedule delete": _NEWEST,
    "manage_schedule play": _NEWEST,
    "manage_schedule take_ownership": _NEWEST,
    "browse_keys get_ssh": _wanda(key_id=5),
    "browse_keys get_gpg": _wanda(key_id=3),
    "manage_key add_ssh": _wanda(title="laptop", key=SSH_KEY, usage_type="auth_and_signing"),
    "manage_key remove_ssh": _wanda(key_id=5),
    "manage_key add_gpg": _wanda(key=GPG_KEY),
    "manage_key remove_gpg": _wanda(key_id=3),
    "manage_key revoke_gpg": _wanda(key_id=4),
}

NOT_RECORDED: dict[str, str] = {
    "browse_project_details templates": "asked for another type of templates",
    "browse_project_details template": "asked for another type of templates",
    "manage_discussion resolve_all": "nobody resolved all threads of a recorded merge request",
    "manage_draft publish_draft": "recorded by bob, and the comments were not read before and after",
    "browse_commit_details signature": "no commit of the recorded world is signed",
    "browse_registry tags": "the recorded GitLab had no registry",
    "browse_registry tag": "the recorded GitLab had no registry",
    "manage_registry delete_tag": "the recorded GitLab had no registry",
    "manage_registry delete_tags": "the recorded GitLab had no registry",
    "manage_registry delete_repository": "the recorded GitLab had no registry",
    "manage_todo restore": "asked in other words",
    "browse_tags signature": "no tag of the recorded world is signed",
    "browse_milestones burndown_events": "paid, and never asked",
    "browse_epics children": "paid, and never asked",
    "manage_epic add_child": "paid, and never asked",
    "manage_epic remove_child": "paid, and never asked",
    "manage_epic add_link": "recorded with a number where a path is sent",
    "manage_merge_request_details reset_approvals": "recorded by a bot only, as no person may",
    "manage_merge_request_details add_to_merge_train": "paid, and asked for a merge request that was gone",
    "browse_merge_request_details merge_train": "paid, and never asked",
    "manage_environment approve_deployment": "paid, and never asked of a protected environment",
    "manage_environment update_protected": "asked with a field that GitLab refuses since",
    "manage_environment unprotect": "paid, and never asked",
    "manage_approval_rule create_status_check": "paid, and never asked",
    "manage_approval_rule update_status_check": "paid, and never asked",
    "manage_approval_rule delete_status_check": "paid, and never asked",
    "manage_approval_rule respond_status_check": "paid, and never asked",
    "manage_approval_rule retry_status_check": "paid, and never asked",
    "browse_approval_rules config": "paid, and never asked",
    "manage_protected_branch unprotect_tag": "recorded with a bare * in its path",
    "browse_groups get": "recorded with the projects of the group, which are not asked for",
    "manage_service_account create": "paid, and never asked",
    "manage_service_account delete": "paid, and never asked",
    "manage_service_account create_token": "paid, and never asked",
    "manage_service_account rotate_token": "paid, and never asked",
    "browse_audit_events list_instance": "paid, and never asked",
    "browse_audit_events get_instance": "paid, and never asked",
    "browse_iterations cadences": "asked in other words",
    "browse_compliance frameworks": "asked in other words",
    "browse_vulnerabilities list": "asked in other words",
    "browse_vulnerabilities counts": "asked in other words",
    "browse_vulnerabilities get": "asked in other words",
    "manage_vulnerability confirm": "asked in other words",
    "manage_vulnerability dismiss": "asked in other words",
    "manage_vulnerability resolve": "asked in other words",
    "manage_vulnerability revert": "asked in other words",
    "browse_analytics project_flow": "asked in other words",
    "browse_analytics group_flow": "asked in other words",
    "browse_analytics value_streams": "asked in other words",
    "browse_analytics contributions": "asked in other words",
    "browse_vulnerabilities get_export": "paid, and asked only of what was not there",
    "browse_vulnerabilities download_export": "paid, and asked only of what was not there",
    "manage_vulnerability link_issue": "paid, and asked only of what was not there",
    "manage_vulnerability unlink_issue": "paid, and asked only of what was not there",
    "browse_analytics dora": "paid, and never asked",
    "browse_analytics recent_activity": "paid, and never asked",
    "manage_review apply": "17.2 shows no ids of suggestions; of 19.3 no whole list of threads was recorded",
    "manage_vulnerability export": "recorded with a number where a path is sent",
    "browse_work_items list": "asked in other words",
    "browse_work_items get": "asked in other words",
    "browse_work_items children": "asked in other words",
    "browse_work_items types": "asked in other words",
    "manage_work_item create": "asked in other words",
    "manage_work_item update": "asked in other words",
    "manage_work_item set_parent": "asked in other words",
    "manage_work_item remove_parent": "asked in other words",
    "manage_work_item reorder": "asked in other words",
    "manage_work_item add_link": "asked in other words",
    "manage_work_item remove_link": "asked in other words",
    "manage_work_item convert": "asked in other words",
    "manage_work_item delete": "asked in other words",
    "manage_file edit": "its several questions were never asked together",
    "manage_branch rename": "its several questions were never asked together",
    "manage_merge_request revert": "its several questions were never asked together",
    "manage_issue bulk_update": "its several questions were never asked together",
    "manage_environment roll_back": "its several questions were never asked together",
    "manage_access_token create": "recorded with an expiry that will be past one day",
    "manage_access_token create_personal": "recorded with an expiry that will be past one day",
    "manage_access_token rotate": "recorded with an expiry that will be past one day",
}

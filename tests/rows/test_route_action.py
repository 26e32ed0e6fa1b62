"""What a row makes of GitLab's own list of parameters."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from gitlab_mcp.actions.action import Action, Danger
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.rows.route_action import check_rule

REGISTRY = Registry()
IN = {"project_id": "acme/website"}


def made(noun: str, verb: str, **arguments: Any) -> Action:
    defaults = InstanceDefaults("https://gitlab.example.com")
    return validate(REGISTRY, noun, {"action": verb, **arguments}, defaults).action


def refused(noun: str, verb: str, **arguments: Any) -> Failure:
    with pytest.raises(CallFailed) as failed:
        made(noun, verb, **arguments)
    return failed.value.failure


def test_what_gitlab_calls_id_has_the_name_of_the_thing() -> None:
    request = made(
        "issue_discussion_note", "delete", **IN, issue_iid=7, discussion_id="a" * 40, note_id=9
    ).request()
    assert request.path == f"/projects/acme%2Fwebsite/issues/7/discussions/{'a' * 40}/notes/9"
    assert (
        made("user_custom_attribute", "get", user_id=3, key="a/b").request().path
        == "/users/3/custom_attributes/a%2Fb"
    )


def test_objects_in_the_arguments_are_checked_by_their_members() -> None:
    cluster = {
        "name": "k",
        "platform_kubernetes_attributes": {"api_url": "https://k", "token": "x", "cluster": 1},
    }
    failure = refused("project_cluster", "add", **IN, **cluster)
    assert failure.facts["unknown_fields"] == ["platform_kubernetes_attributes.cluster"]
    del cluster["platform_kubernetes_attributes"]["cluster"]  # type: ignore[attr-defined]
    body = made("project_cluster", "add", **IN, **cluster).request().body
    assert body == cluster


def test_an_object_may_come_as_json_text() -> None:
    given = '{"api_url": "https://k", "token": "x"}'
    body = made("project_cluster", "add", **IN, name="k", platform_kubernetes_attributes=given).request().body
    assert body is not None and body["platform_kubernetes_attributes"] == {
        "api_url": "https://k",
        "token": "x",
    }


def test_commands_in_a_note_are_text_and_in_an_object_always() -> None:
    note = made("project_wiki_page_note", "create", **IN, wiki_page_id=1, body="/close")
    assert note.request().body == {"body": "\\/close"}
    wanted = made("project_wiki_page_note", "create", **IN, wiki_page_id=1, body="/close", quick_actions=True)
    assert wanted.request().body == {"body": "/close"}
    features = {"description": {"description": "/close"}}
    item = made("project_work_item", "update", **IN, work_item_iid=1, features=features, quick_actions=True)
    assert item.request().body == {"features": {"description": {"description": "\\/close"}}}


def test_parameters_that_go_together_are_asked_for_before_gitlab_is() -> None:
    note = {**IN, "issue_iid": 1, "discussion_id": "a" * 40, "note_id": 1}
    assert "exactly one of body or resolved" in str(refused("issue_discussion_note", "update", **note).facts)
    both = refused("issue_discussion_note", "update", **note, body="x", resolved=True)
    assert both.code == "INVALID_VALUE"
    assert made("issue_discussion_note", "update", **note, resolved=True).request().body == {"resolved": True}


@pytest.mark.parametrize(
    ("kind", "given", "is_kept"),
    [
        ("mutually_exclusive", {"a"}, True),
        ("mutually_exclusive", {"a", "b"}, False),
        ("exactly_one_of", set(), False),
        ("exactly_one_of", {"b"}, True),
        ("at_least_one_of", set(), False),
        ("at_least_one_of", {"a", "b"}, True),
        ("all_or_none_of", {"a"}, False),
        ("all_or_none_of", set(), True),
    ],
)
def test_a_rule_of_gitlab_is_kept_or_named(kind: str, given: set[str], is_kept: bool) -> None:
    if is_kept:
        check_rule(kind, ["a", "b"], given)
        return
    with pytest.raises(ValueError, match="a"):
        check_rule(kind, ["a", "b"], given)


def test_a_value_that_shows_more_to_more_people_makes_a_row_more_dangerous() -> None:
    update = {**IN, "work_item_iid": 1}
    assert made("project_work_item", "update", **update, title="x").danger is Danger.REVERSIBLE
    assert made("project_work_item", "update", **update, confidential=False).danger is Danger.DESTRUCTIVE


def test_a_noun_without_the_verb_is_answered_with_its_verbs() -> None:
    failure = refused("project_terraform_state", "destroy", **IN)
    assert failure.code == "INVALID_ACTION" and "delete" in failure.facts["valid_actions"]


def test_a_noun_that_is_also_a_word_for_a_tool_still_means_the_tool() -> None:
    assert refused("issue", "list", **IN).facts["send"]["tool"] == "browse_issues"


def test_a_field_of_some_versions_says_so() -> None:
    marked = [name for name, shape in shapes(REGISTRY.tool("user").actions["create"]).items() if shape.marks]
    assert marked
    assert REGISTRY.rows()["project_registry_protection_rule.list"].until == "17.2"


def test_starting_reads_no_row() -> None:
    code = (
        "from gitlab_mcp.app import App\n"
        "from gitlab_mcp.settings import Secret, Settings\n"
        "from gitlab_mcp.api.rows import all_rows\n"
        "app = App(Settings(token=Secret('x'), never_actions=('manage_*',)))\n"
        "app.listing()\n"
        "assert all_rows.cache_info().currsize == 0\n"
        "import sys; assert 'gitlab_mcp.rows' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""Jobs about people, groups and access, played to their end state. Synthetic: in a company that the stand-in plays."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mcp import Client

from tests.support.agent import Agent, Story, hearing
from tests.support.process import parameters
from tests.support.standin import StandIn
from tests.support.standin.company import GONE_ON, Company, Place

pytestmark = pytest.mark.anyio

FRIDAY = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
MAINTAINERS = {"access_level": 40, "user_id": None, "group_id": None, "deploy_key_id": None}
NOBODY = {**MAINTAINERS, "access_level": 0}


def acme() -> Company:
    """alice owns the group; bob maintains it; carol is a guest of the project, dave of nothing."""
    company = Company()
    company.group("acme", alice=50, bob=40)
    company.group("acme-tools", dave=30)
    company.project("acme/website", carol=10)
    company.project("acme/api")
    return company


async def told(company: Company, tell: Callable[[Agent], Awaitable[None]]) -> None:
    async with hearing(Story("", lambda gitlab: _with(gitlab, company), tell)):
        pass


async def refused(agent: Agent, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
    """One call that must fail: its error."""
    answer = await agent.client.call_tool(tool, {"action": action, **arguments})
    texts = [block.text for block in answer.content if block.type == "text"]
    assert answer.is_error, texts
    failure: dict[str, Any] = json.loads(texts[0])
    return failure


def place(company: Company, kind: str, path: str) -> Place:
    found = company.at(kind, path)
    assert found is not None, path
    return found


def named(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["username"]: row for row in rows}


async def test_carol_becomes_a_developer_until_friday() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        role = await agent.ask("browse_members", "get", project_id="acme/website", user_id="carol")
        assert (role.data["access_level"], role.data["from"]) == ("guest", "acme/website")
        done = await agent.ask(
            "manage_member",
            "update",
            project_id="acme/website",
            username="@carol",
            role="Developer",
            expires_at=FRIDAY,
        )
        assert done.data["access_level"] == "developer"
        assert done.data["expires_at"] == FRIDAY

    await told(company, tell)
    website = company.at("projects", "acme/website")
    assert website is not None
    assert (website.members[4]["access_level"], website.members[4]["expires_at"]) == (30, FRIDAY)


async def test_only_the_last_day_changes_where_no_role_is_given() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        await agent.ask(
            "manage_member", "update", project_id="acme/website", user_id="carol", expires_at=FRIDAY
        )

    await told(company, tell)
    website = company.at("projects", "acme/website")
    assert website is not None
    assert (website.members[4]["access_level"], website.members[4]["expires_at"]) == (10, FRIDAY)


async def test_who_may_push_to_main_are_people_with_the_reason() -> None:
    company = acme()
    website = company.at("projects", "acme/website")
    assert website is not None
    by_name = {**MAINTAINERS, "user_id": 4}
    website.protected = [
        {"name": "main", "push_access_levels": [MAINTAINERS], "merge_access_levels": [MAINTAINERS]},
        {"name": "rel*", "push_access_levels": [NOBODY, by_name], "merge_access_levels": [MAINTAINERS]},
    ]
    website.members[4]["access_level"] = 30

    async def tell(agent: Agent) -> None:
        main = await agent.ask("browse_members", "who_can", project_id="acme/website", what="push")
        assert main.data["branch"] == "main"
        assert {name: row["from"] for name, row in named(main.data["people"]).items()} == {
            "alice": "acme",
            "bob": "acme",
        }
        other = await agent.ask(
            "browse_members", "who_can", project_id="acme/website", what="push", branch="topic"
        )
        assert set(named(other.data["people"])) == {"alice", "bob", "carol"}
        released = await agent.ask(
            "browse_members", "who_can", project_id="acme/website", what="push", branch="release/1"
        )
        assert {name: row["because"] for name, row in named(released.data["people"]).items()} == {
            "carol": "named in the rule"
        }

    async with hearing(Story("", lambda gitlab: _on_premium(gitlab, company), tell)):
        pass


def _with(gitlab: StandIn, company: Company) -> None:
    gitlab.add(company)
    gitlab.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})


def _on_premium(gitlab: StandIn, company: Company) -> None:
    gitlab.add(company)
    gitlab.answer("GET", "/metadata", body={"version": "19.3.0-ee", "enterprise": True})
    gitlab.answer("GET", "/personal_access_tokens/self", body={"scopes": ["api"], "active": True})
    gitlab.answer("GET", "/license", body={"plan": "premium"})


async def test_who_can_see_a_project_tells_inherited_and_shared_people_apart() -> None:
    company = acme()
    tools, website = company.at("groups", "acme-tools"), company.at("projects", "acme/website")
    assert tools is not None
    assert website is not None
    website.thing["shared_with_groups"] = [
        {"group_id": tools.thing["id"], "group_full_path": "acme-tools", "group_access_level": 20}
    ]

    async def tell(agent: Agent) -> None:
        seen = await agent.ask("browse_members", "who_can", project_id="acme/website", what="see")
        people = named(seen.data["people"])
        assert {name: (row["access_level"], row["from"]) for name, row in people.items()} == {
            "alice": ("owner", "acme"),
            "bob": ("maintainer", "acme"),
            "carol": ("guest", "acme/website"),
            "dave": ("reporter", "acme-tools"),
        }
        listed = await agent.ask("browse_members", "list", project_id="acme/website")
        assert {row["username"]: row["from"] for row in listed.data["items"]} == {
            name: row["from"] for name, row in people.items()
        }

    await told(company, tell)


async def test_who_comes_by_a_group_that_the_group_above_is_shared_with_is_told_by_that_group() -> None:
    company = acme()
    tools = place(company, "groups", "acme-tools")
    place(company, "groups", "acme").thing["shared_with_groups"] = [
        {"group_id": tools.thing["id"], "group_full_path": "acme-tools", "group_access_level": 20}
    ]

    async def tell(agent: Agent) -> None:
        here = {"project_id": "acme/website"}
        listed = await agent.ask("browse_members", "list", **here)
        dave = named(listed.data["items"])["dave"]
        assert (dave["access_level"], dave["from"]) == ("reporter", "acme-tools")
        alone = await agent.ask("browse_members", "get", user_id="dave", **here)
        assert alone.data["from"] == "acme-tools"
        assert "warnings" not in listed.data

    await told(company, tell)


async def test_where_nobody_can_tell_who_gives_a_role_that_is_said() -> None:
    company = acme()
    # The group that gives the role cannot be read.
    place(company, "projects", "acme/website").thing["namespace"] = {"kind": "user", "full_path": "alice"}

    async def tell(agent: Agent) -> None:
        listed = await agent.ask("browse_members", "list", project_id="acme/website")
        people = named(listed.data["items"])
        assert "from" not in people["bob"] and people["carol"]["from"] == "acme/website"
        [warning] = listed.data["warnings"]
        assert (warning["code"], warning["usernames"]) == ("PARTIAL", ["alice", "bob"])

    await told(company, tell)


async def test_only_who_is_shown_is_named_where_nobody_can_tell_who_gives_a_role() -> None:
    company = acme()
    website = place(company, "projects", "acme/website")
    # The group that gives the roles cannot be read.
    website.thing["namespace"] = {"kind": "user", "full_path": "alice"}
    place(company, "groups", "acme").members[4] = {**website.members[4], "id": 4}
    website.members.clear()
    website.protected = [
        {"name": "main", "push_access_levels": [MAINTAINERS], "merge_access_levels": [MAINTAINERS]}
    ]

    async def tell(agent: Agent) -> None:
        answer = await agent.ask("browse_members", "who_can", project_id="acme/website", what="push")
        assert set(named(answer.data["people"])) == {"alice", "bob"}, "carol is a guest"
        [warning] = answer.data["warnings"]
        assert (warning["code"], warning["usernames"]) == ("PARTIAL", ["alice", "bob"])
        seen = await agent.ask("browse_members", "who_can", project_id="acme/website", what="see")
        [warning] = seen.data["warnings"]
        assert warning["usernames"] == ["alice", "bob", "carol"]

    await told(company, tell)


async def test_somebody_who_is_a_member_already_is_changed_by_the_call_that_is_offered() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        add = {"project_id": "acme/website", "user_id": "carol", "access_level": "developer"}
        failure = await refused(agent, "manage_member", "add", expires_at=FRIDAY, **add)
        assert (failure["error_code"], failure["state"]) == ("CONFLICT", "exists")
        assert "as guest" in failure["message"]
        sent = dict(failure["send"]["arguments"])
        done = await agent.ask(failure["send"]["tool"], sent.pop("action"), **sent)
        assert (done.data["access_level"], done.data["expires_at"]) == ("developer", FRIDAY)

    await told(company, tell)
    assert place(company, "projects", "acme/website").members[4]["access_level"] == 30


async def test_somebody_without_a_role_is_no_member_and_yet_a_person() -> None:
    async def tell(agent: Agent) -> None:
        failure = await refused(agent, "browse_members", "get", project_id="acme/website", user_id="dave")
        assert failure["error_code"] == "NOT_FOUND"
        assert failure["message"].startswith("The person is no member here.")

    await told(acme(), tell)


async def test_a_subgroup_is_made_shared_deleted_and_restored() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        made = await agent.ask(
            "manage_group", "create", name="Ops", path="ops", parent_group_id="acme", visibility="private"
        )
        assert made.data["full_path"] == "acme/ops"
        shared = await agent.ask(
            "manage_group",
            "share",
            group_id="acme/ops",
            with_group_id="acme-tools",
            group_access="developer",
        )
        assert shared.data["shared_with_groups"][0]["group_full_path"] == "acme-tools"
        deleted = await agent.ask("manage_group", "delete", group_id=made.data["id"])
        assert deleted.data["deleted"] is False
        assert deleted.data["gone_on"] == GONE_ON
        assert "manage_group restore" in deleted.data["then"]
        restored = await agent.ask("manage_group", "restore", group_id=deleted.data["id"])
        assert restored.data["full_path"] == "acme/ops"

    await told(company, tell)
    ops = company.at("groups", "acme/ops")
    assert ops is not None
    assert ops.thing["marked_for_deletion_on"] is None
    assert [each["group_access_level"] for each in ops.thing["shared_with_groups"]] == [30]


async def test_the_jobs_of_another_project_are_let_in() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        await agent.ask(
            "manage_job_token_scope",
            "add_project",
            project_id="acme/website",
            allowed_project_id="acme/api",
        )
        listed = await agent.ask("browse_job_token_scope", "projects", project_id="acme/website")
        assert [row["path_with_namespace"] for row in listed.data["items"]] == ["acme/api"]

    await told(company, tell)
    website, api = company.at("projects", "acme/website"), company.at("projects", "acme/api")
    assert website is not None
    assert api is not None
    assert website.allowed["allowlist"] == [api.thing["id"]]


async def test_somebody_is_invited_by_e_mail_and_the_invitation_is_taken_back() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        here = {"project_id": "acme/website"}
        invited = await agent.ask("manage_member", "invite", email="eve@example.com", access_level=20, **here)
        assert (invited.data["email"], invited.data["access_level"]) == ("eve@example.com", "reporter")
        waiting = await agent.ask("browse_members", "invitations", **here)
        assert [(row["email"], row["access_level"]) for row in waiting.data["items"]] == [
            ("eve@example.com", "reporter")
        ]
        await agent.ask("manage_member", "revoke_invitation", email="eve@example.com", **here)

    await told(company, tell)
    website = company.at("projects", "acme/website")
    assert website is not None
    assert website.invitations == {}


async def test_an_invitation_of_a_member_says_that_nothing_changed() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        done = await agent.ask(
            "manage_member",
            "invite",
            project_id="acme/website",
            email="carol@example.com",
            access_level="maintainer",
        )
        assert [each["code"] for each in done.data["warnings"]] == ["NOT_APPLIED"]

    await told(company, tell)
    assert place(company, "projects", "acme/website").members[4]["access_level"] == 10


async def test_a_lower_role_than_the_inherited_one_is_refused_with_its_place() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        here = {"project_id": "acme/website", "user_id": "bob"}
        added = await refused(agent, "manage_member", "add", access_level="developer", **here)
        assert added["error_code"] == "REJECTED"
        assert "higher role from a group above" in added["message"]
        for action, more in (("update", {"access_level": "developer"}), ("remove", {})):
            failure = await refused(agent, "manage_member", action, **here, **more)
            assert failure["error_code"] == "NOT_FOUND"
            assert failure["alternatives"][0]["arguments"]["group_id"] == "acme"

    await told(company, tell)
    assert set(place(company, "projects", "acme/website").members) == {4}
    assert place(company, "groups", "acme").members[3]["access_level"] == 40


async def test_what_is_no_person_role_address_or_day_changes_nothing() -> None:
    company = acme()
    add = {"project_id": "acme/website", "user_id": "dave", "access_level": "developer"}
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("add", {**add, "user_id": "nobody-here"}, "NOT_FOUND"),
        ("add", {**add, "user_id": "Дейв"}, "NOT_FOUND"),
        ("add", {**add, "user_id": "\u202edave"}, "NOT_FOUND"),
        ("add", {**add, "user_id": ""}, "INVALID_VALUE"),
        ("add", {**add, "user_id": True}, "TYPE_MISMATCH"),
        ("add", {**add, "access_level": "boss"}, "INVALID_VALUE"),
        ("add", {**add, "access_level": 33}, "INVALID_VALUE"),
        ("add", {**add, "expires_at": "2020-01-01"}, "INVALID_VALUE"),
        ("add", {**add, "expires_at": "friday"}, "INVALID_VALUE"),
        ("add", {**add, "project_id": "acme/ünbekannt"}, "NOT_FOUND"),
        ("invite", {"project_id": "acme/website", "email": "nonsense", "access_level": 20}, "INVALID_VALUE"),
        ("update", {"project_id": "acme/website", "user_id": "carol"}, "INVALID_VALUE"),
        ("remove", {"project_id": "acme/website", "user_id": "dave"}, "NOT_FOUND"),
    ]

    async def tell(agent: Agent) -> None:
        codes = [
            (action, arguments, (await refused(agent, "manage_member", action, **arguments))["error_code"])
            for action, arguments, _ in wrong
        ]
        assert codes == wrong

    await told(company, tell)
    assert set(place(company, "projects", "acme/website").members) == {4}


async def test_numbers_as_text_are_numbers() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        number = str(place(company, "projects", "acme/website").thing["id"])
        done = await agent.ask(
            "manage_member", "add", project_id=number, user_id="5", access_level="30", expires_at=FRIDAY
        )
        assert (done.data["id"], done.data["access_level"]) == (5, "developer")
        again = await refused(
            agent, "manage_member", "add", project_id=number, user_id=5, access_level="guest"
        )
        assert again["error_code"] == "CONFLICT"

    await told(company, tell)
    assert place(company, "projects", "acme/website").members[5]["access_level"] == 30


async def test_an_access_request_is_found_and_approved_with_a_role() -> None:
    company = acme()
    place(company, "projects", "acme/website").requests[5] = {
        "id": 5,
        "username": "dave",
        "name": "Dave",
        "state": "active",
        "requested_at": "2030-01-07T10:00:00Z",
    }

    async def tell(agent: Agent) -> None:
        here = {"project_id": "acme/website"}
        waiting = await agent.ask("browse_members", "access_requests", **here)
        assert [row["username"] for row in waiting.data["items"]] == ["dave"]
        done = await agent.ask(
            "manage_member", "approve_request", user_id="dave", access_level="reporter", **here
        )
        assert (done.data["username"], done.data["access_level"]) == ("dave", "reporter")
        # alice is a member already.
        mine = await refused(agent, "manage_member", "request_access", **here)
        assert (mine["error_code"], mine["state"]) == ("CONFLICT", "exists")

    await told(company, tell)
    website = place(company, "projects", "acme/website")
    assert (website.requests, website.members[5]["access_level"]) == ({}, 20)


async def test_a_role_that_gitlab_does_not_have_leaves_the_request_open_and_says_so() -> None:
    company = acme()
    place(company, "projects", "acme/website").requests[5] = {"id": 5, "username": "dave"}

    async def tell(agent: Agent) -> None:
        done = await agent.ask(
            "manage_member",
            "approve_request",
            project_id="acme/website",
            user_id="dave",
            access_level="planner",
        )
        assert [each["code"] for each in done.data["warnings"]] == ["NOT_APPLIED"]

    await told(company, tell)
    assert set(place(company, "projects", "acme/website").requests) == {5}


async def test_a_group_is_moved_archived_and_moved_to_the_top() -> None:
    company = acme()
    company.group("acme/ops")

    async def tell(agent: Agent) -> None:
        moved = await agent.ask("manage_group", "transfer", group_id="acme/ops", parent_group_id="acme-tools")
        assert moved.data["full_path"] == "acme-tools/ops"
        here = {"group_id": moved.data["id"]}
        again = await refused(agent, "manage_group", "transfer", parent_group_id="acme-tools", **here)
        assert again["error_code"] == "CONFLICT"
        archived = await agent.ask("manage_group", "archive", **here)
        assert archived.data["archived"] is True
        assert (await refused(agent, "manage_group", "archive", **here))["error_code"] == "CONFLICT"
        below = await agent.ask("browse_groups", "subgroups", group_id="acme-tools")
        assert [(row["full_path"], row["archived"]) for row in below.data["items"]] == [
            ("acme-tools/ops", True)
        ]
        await agent.ask("manage_group", "unarchive", **here)
        top = await agent.ask("manage_group", "make_top_level", **here)
        assert top.data["full_path"] == "ops"

    await told(company, tell)
    ops = place(company, "groups", "ops").thing
    assert (ops["parent_id"], ops["archived"]) == (None, False)


async def test_a_group_moved_below_itself_or_taken_twice_is_refused() -> None:
    company = acme()
    company.group("acme/ops")

    async def tell(agent: Agent) -> None:
        inside = await refused(agent, "manage_group", "transfer", group_id="acme", parent_group_id="acme/ops")
        assert inside["error_code"] == "REJECTED"
        taken = await refused(agent, "manage_group", "create", name="Ops", path="ops", parent_group_id="acme")
        assert taken["error_code"] == "CONFLICT"
        unmarked = await refused(
            agent, "manage_group", "delete", group_id="acme/ops", permanently_remove=True
        )
        assert (unmarked["error_code"], unmarked["state"]) == ("CONFLICT", "not marked for deletion")

    await told(company, tell)
    assert place(company, "groups", "acme/ops").thing["marked_for_deletion_on"] is None


async def test_a_subgroup_is_deleted_for_good_in_two_steps() -> None:
    company = acme()
    number = company.group("acme/ops").thing["id"]

    async def tell(agent: Agent) -> None:
        marked = await agent.ask("manage_group", "delete", group_id=number)
        assert marked.data["full_path"] == f"acme/ops-deletion_scheduled-{number}"
        state = await agent.ask("browse_groups", "get", group_id=number)
        assert state.data["marked_for_deletion_on"] == "2030-01-07"
        below = await agent.ask(
            "manage_group", "create", name="New", path="new", parent_group_id=marked.data["full_path"]
        )
        assert "marked for deletion" in below.data["warnings"][0]["message"]
        twice = await refused(agent, "manage_group", "delete", group_id=number)
        assert (twice["error_code"], twice["state"]) == ("CONFLICT", "marked for deletion")
        gone = await agent.ask("manage_group", "delete", group_id=number, permanently_remove=True)
        assert gone.data["permanently"] is True

    await told(company, tell)
    assert ("groups", number) not in company.places


async def test_notifications_of_one_project_are_muted_and_no_others() -> None:
    company = acme()

    async def tell(agent: Agent) -> None:
        done = await agent.ask("manage_notifications", "mute", project_id="acme/website")
        assert done.data["level"] == "disabled"
        elsewhere = await agent.ask("browse_notifications", "get")
        assert elsewhere.data["level"] == "participating"

    await told(company, tell)
    assert company.notifications["acme/website"] == {"level": "disabled"}


async def test_the_job_token_scope_says_what_is_there_and_what_is_not() -> None:
    company = acme()
    here = {"project_id": "acme/website", "allowed_project_id": "acme/api"}

    async def tell(agent: Agent) -> None:
        missing = await refused(agent, "manage_job_token_scope", "remove_project", **here)
        assert missing["error_code"] == "NOT_FOUND"
        await agent.ask("manage_job_token_scope", "add_project", **here)
        again = await refused(agent, "manage_job_token_scope", "add_project", **here)
        assert (again["error_code"], again["state"]) == ("CONFLICT", "exists")
        await agent.ask("manage_job_token_scope", "remove_project", **here)
        unknown = await refused(
            agent,
            "manage_job_token_scope",
            "add_group",
            project_id="acme/website",
            allowed_group_id="no-such",
        )
        assert unknown["error_code"] == "NOT_FOUND"

    await told(company, tell)
    assert place(company, "projects", "acme/website").allowed == {"allowlist": [], "groups_allowlist": []}


@asynccontextmanager
async def over_stdio(company: Company) -> AsyncIterator[Agent]:
    with StandIn() as gitlab:
        gitlab.add(company)
        flags = ("--toolsets", "access", "--trust", "dangerous", "--confirm", "never")
        async with Client(parameters(gitlab.url, *flags)) as client:
            yield Agent(client)


async def test_over_stdio_a_member_is_added_found_and_removed() -> None:
    company = acme()
    async with over_stdio(company) as agent:
        await agent.ask(
            "manage_member", "add", project_id="acme/api", user_id="dave", access_level="reporter"
        )
        found = await agent.ask("browse_members", "get", project_id="acme/api", user_id="dave")
        assert (found.data["access_level"], found.data["from"]) == ("reporter", "acme/api")
        await agent.ask("manage_member", "remove", project_id="acme/api", user_id="dave")
    api = company.at("projects", "acme/api")
    assert api is not None
    assert api.members == {}

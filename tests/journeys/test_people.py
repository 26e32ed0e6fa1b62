"""Jobs about people, groups and access, played to their end state. Synthetic: in a company that the stand-in plays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mcp import Client

from tests.support.agent import Agent, Story, hearing
from tests.support.process import parameters
from tests.support.standin import StandIn
from tests.support.standin.company import GONE_ON, Company

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
        place = {"project_id": "acme/website"}
        await agent.ask("manage_member", "invite", email="eve@example.com", access_level=20, **place)
        waiting = await agent.ask("browse_members", "invitations", **place)
        assert [(row["email"], row["access_level"]) for row in waiting.data["items"]] == [
            ("eve@example.com", "reporter")
        ]
        await agent.ask("manage_member", "revoke_invitation", email="eve@example.com", **place)

    await told(company, tell)
    website = company.at("projects", "acme/website")
    assert website is not None
    assert website.invitations == {}


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

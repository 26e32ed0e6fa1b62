"""See what has access to a project, give a token for a while and take it back. Synthetic: the stand-in plays it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.agent import Agent, Story, hearing
from tests.support.standin import StandIn
from tests.support.standin.project_access import ProjectAccess

HERE = {"project_id": "acme/fresh"}


def seeded(**more: object) -> ProjectAccess:
    access = ProjectAccess(HERE["project_id"], **more)  # type: ignore[arg-type]
    access.things["access_tokens"] = [{"id": 12, "name": "ci bot", "scopes": ["read_api"], "active": True}]
    access.things["deploy_tokens"] = [{"id": 1, "name": "deploy", "scopes": ["read_repository"]}]
    access.things["deploy_keys"] = [
        {"id": 5, "title": "server", "can_push": True, "key": "ssh-ed25519 AAAA a"}
    ]
    access.things["hooks"] = [{"id": 9, "url": "https://hooks.example.com/x"}]
    return access


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_which_tokens_hooks_and_keys_the_project_has_takes_one_call(era: str) -> None:
    async def tell(agent: Agent) -> None:
        seen = await agent.ask("browse_access_tokens", "overview", **HERE)
        assert seen.data["total"] == {"access_tokens": 1, "deploy_tokens": 1, "deploy_keys": 1, "webhooks": 1}
        assert seen.data["deploy_keys"][0]["can_push"] is True
        assert seen.data["job_tokens"]["only_those_listed"] is True
        assert "warnings" not in seen.data

    async with hearing(Story("Overview", lambda gitlab: gitlab.add(seeded()), tell), era):
        pass


@pytest.mark.anyio
async def test_what_may_not_be_read_is_named_and_the_rest_is_shown() -> None:
    async def tell(agent: Agent) -> None:
        seen = await agent.ask("browse_access_tokens", "overview", **HERE)
        assert "access_tokens" not in seen.data
        assert seen.data["total"]["webhooks"] == 1
        [warning] = seen.data["warnings"]
        assert (warning["code"], warning["unread"]) == ("PARTIAL", ["access_tokens"])

    access = seeded(refuses=frozenset({"access_tokens"}))
    async with hearing(Story("Partly", lambda gitlab: gitlab.add(access), tell)):
        pass


@pytest.mark.anyio
async def test_a_token_for_a_year_is_made_shown_once_and_revoked() -> None:
    access = seeded()
    in_a_year = (datetime.now(UTC) + timedelta(days=364)).date().isoformat()

    async def tell(agent: Agent) -> None:
        made = await agent.ask(
            "manage_access_token",
            "create",
            **HERE,
            name="reader",
            scopes=["read_repository"],
            access_level=20,
            expires_at=in_a_year,
        )
        assert made.data["token"].startswith("glpat-")
        assert made.data["shown_once"] is True
        token = {**HERE, "token_id": made.data["id"]}
        seen = await agent.ask("browse_access_tokens", "get", **token)
        assert "glpat-" not in seen.said
        await agent.ask("manage_access_token", "revoke", **token)

    def set_up(gitlab: StandIn) -> None:
        gitlab.add(access)

    async with hearing(Story("A token", set_up, tell)):
        pass
    made = access.things["access_tokens"][-1]
    assert (made["scopes"], made["expires_at"], made["revoked"]) == (["read_repository"], in_a_year, True)

"""See what has access to a project; give tokens and keys, rotate them and take them back. The stand-in plays it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.agent import Agent, Story, hearing
from tests.support.standin import LoseAnswer, StandIn
from tests.support.standin.project_access import OWN_TOKEN, with_one_of_each

HERE = {"project_id": "acme/fresh"}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINTirEruj/PtA0ezwkKzJ3y9U4fr/8Su+8qbmDMH3MOU"
READER = {"name": "reader", "scopes": ["read_repository"], "access_level": 20}


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_which_tokens_hooks_and_keys_the_project_has_takes_one_call(era: str) -> None:
    async def tell(agent: Agent) -> None:
        seen = await agent.ask("browse_access_tokens", "overview", **HERE)
        assert seen.data["total"] == {"access_tokens": 1, "deploy_tokens": 1, "deploy_keys": 1, "webhooks": 1}
        assert seen.data["deploy_keys"][0]["can_push"] is True
        assert seen.data["job_tokens"]["only_those_listed"] is True
        assert "warnings" not in seen.data

    async with hearing(
        Story("Overview", lambda gitlab: gitlab.add(with_one_of_each(HERE["project_id"])), tell), era
    ):
        pass


@pytest.mark.anyio
async def test_what_may_not_be_read_is_named_and_the_rest_is_shown() -> None:
    async def tell(agent: Agent) -> None:
        seen = await agent.ask("browse_access_tokens", "overview", **HERE)
        assert "access_tokens" not in seen.data
        assert seen.data["total"]["webhooks"] == 1
        [warning] = seen.data["warnings"]
        assert (warning["code"], warning["unread"]) == ("PARTIAL", ["access_tokens"])

    access = with_one_of_each(HERE["project_id"], refuses=frozenset({"access_tokens"}))
    async with hearing(Story("Partly", lambda gitlab: gitlab.add(access), tell)):
        pass


async def refusal(agent: Agent, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
    answer = await agent.client.call_tool(tool, {"action": action, **arguments})
    assert answer.is_error, answer.content
    [block] = answer.content
    assert block.type == "text"
    failure: dict[str, Any] = json.loads(block.text)
    return failure


@pytest.mark.anyio
async def test_a_token_for_a_year_is_made_rotated_and_revoked() -> None:
    access = with_one_of_each(HERE["project_id"])
    in_a_year = (datetime.now(UTC) + timedelta(days=364)).date().isoformat()

    async def tell(agent: Agent) -> None:
        made = await agent.ask("manage_access_token", "create", **HERE, **READER, expires_at=in_a_year)
        assert made.data["token"].startswith("glpat-")
        assert made.data["shown_once"] is True
        assert (made.data["access_level"], made.data.get("warnings")) == ("reporter", None)
        token = {**HERE, "token_id": made.data["id"]}
        seen = await agent.ask("browse_access_tokens", "get", **token)
        assert "glpat-" not in seen.said
        rotated = await agent.ask("manage_access_token", "rotate", **token)
        assert rotated.data["token"] not in ("", made.data["token"])
        await agent.ask("manage_access_token", "revoke", **HERE, token_id=rotated.data["id"])

    async with hearing(Story("A token", lambda gitlab: gitlab.add(access), tell)):
        pass
    old, new = access.things["access_tokens"][-2:]
    assert (old["scopes"], old["expires_at"], old["revoked"]) == (["read_repository"], in_a_year, True)
    assert (new["name"], new["revoked"]) == ("reader", True)


@pytest.mark.anyio
async def test_the_token_in_use_is_neither_rotated_nor_revoked() -> None:
    access = with_one_of_each(HERE["project_id"])
    access.things["access_tokens"].append({"id": OWN_TOKEN, "name": "this server", "revoked": False})

    async def tell(agent: Agent) -> None:
        for action in ("rotate", "revoke"):
            failure = await refusal(agent, "manage_access_token", action, **HERE, token_id=OWN_TOKEN)
            assert failure["error_code"] == "CONFLICT"

    async with hearing(Story("The own token", lambda gitlab: gitlab.add(access), tell)):
        pass
    assert access.things["access_tokens"][-1]["revoked"] is False


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "action", "kind"),
    [
        ("manage_access_token", "create", "access_tokens"),
        ("manage_deploy_access", "create_token", "deploy_tokens"),
    ],
)
async def test_a_token_whose_answer_was_lost_is_to_be_revoked_and_made_anew(
    tool: str, action: str, kind: str
) -> None:
    access = with_one_of_each(HERE["project_id"])

    def set_up(gitlab: StandIn) -> None:
        gitlab.add(access)
        gitlab.fault("POST", f"/projects/*/{kind}", LoseAnswer())

    async def tell(agent: Agent) -> None:
        asked = {"name": "lost", "scopes": ["read_repository"], **HERE}
        failure = await refusal(agent, tool, action, **asked)
        assert failure["error_code"] == "OUTCOME_UNKNOWN"
        assert "revoke what was made, and create another" in json.dumps(failure)
        assert "glpat-" not in json.dumps(failure)

    async with hearing(Story("A lost token", set_up, tell)):
        pass
    assert [each["name"] for each in access.things[kind]].count("lost") == 1


@pytest.mark.anyio
async def test_an_ssh_key_is_added_once_and_removed() -> None:
    access = with_one_of_each(HERE["project_id"])
    access.things["keys"] = [{"id": 4, "title": "laptop", "key": "ssh-ed25519 BBBB Alice (gitlab)"}]

    def set_up(gitlab: StandIn) -> None:
        gitlab.add(access)
        gitlab.fault("POST", "/user/keys", LoseAnswer())

    async def tell(agent: Agent) -> None:
        added = await agent.ask("manage_key", "add_ssh", title="laptop", key=f"{KEY} alice@laptop")
        assert added.data["id"] != 4
        again = await refusal(agent, "manage_key", "add_ssh", title="laptop", key=KEY)
        assert again["error_code"] == "CONFLICT"
        await agent.ask("manage_key", "remove_ssh", key_id=added.data["id"])

    async with hearing(Story("A key", set_up, tell)):
        pass
    assert [each["id"] for each in access.things["keys"]] == [4]


@pytest.mark.anyio
async def test_a_deploy_token_is_revoked_and_a_known_deploy_key_is_told() -> None:
    access = with_one_of_each(HERE["project_id"])

    async def tell(agent: Agent) -> None:
        await agent.ask("manage_deploy_access", "revoke_token", **HERE, token_id=1)
        known = {"title": "again", "key": "ssh-ed25519 AAAA b"}
        added = await agent.ask("manage_deploy_access", "add_key", **HERE, **known)
        told = {(warning["code"], warning["field"]) for warning in added.data["warnings"]}
        assert ("NOT_APPLIED", "key") in told

    async with hearing(Story("Deploy access", lambda gitlab: gitlab.add(access), tell)):
        pass
    assert access.things["deploy_tokens"] == []
    assert len(access.things["deploy_keys"]) == 1


@pytest.mark.anyio
async def test_what_gitlab_would_take_or_misread_is_refused_before_it_is_sent() -> None:
    access = with_one_of_each(HERE["project_id"])
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("scopes", {"scopes": ["everything"]}),
        ("scopes", {"scopes": []}),
        ("scopes", {"scopes": {"api": True}}),
        ("expires_at", {"expires_at": "2020-01-01"}),
        ("expires_at", {"expires_at": "next year"}),
        ("access_level", {"access_level": "emperor"}),
        ("name", {"name": ""}),
    ]

    async def tell(agent: Agent) -> None:
        for field, value in wrong:
            failure = await refusal(agent, "manage_access_token", "create", **HERE, **{**READER, **value})
            assert field in json.dumps(failure["invalid_fields"]), (value, failure)
        made = await agent.ask("manage_access_token", "create", **HERE, **{**READER, "name": "ключ 🔑"})
        assert made.data["name"] == "ключ 🔑"

    async with hearing(Story("Wrong tokens", lambda gitlab: gitlab.add(access), tell)):
        pass
    assert len(access.things["access_tokens"]) == 2

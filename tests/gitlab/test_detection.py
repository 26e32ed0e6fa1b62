"""What is concluded about an instance and a token from what a real GitLab answers each kind of caller.

`detect_*`: an EE without a licence and a CE on the same data, asked by everybody. What no recording shows, licensed
instances and GitLab.com, is synthetic and made of what GitLab's documentation says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from gitlab_mcp.actions.exchange import Answer, Request
from gitlab_mcp.gitlab.faults import Refused
from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
from gitlab_mcp.tiers.effective_tier import effective_tier_at
from tests.support.exam import API, Recorded
from tests.support.recordings import rows

pytestmark = pytest.mark.anyio


class Detected(Recorded):
    """What one caller was answered, its token in the usual place."""

    def __init__(self, recording: str, actor: str, version: str = "17.2") -> None:
        self._answers: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        for row in rows(recording, version):
            path = urlsplit(row["path"])
            if (
                row["actor"] == actor
                and row["method"] == "GET"
                and not path.query
                and "request_headers" not in row
            ):
                self._answers.setdefault(path.path.removeprefix(API), row)

    async def send(self, request: Request) -> Answer:
        self.asked.append(request.path)
        return await super().send(request)


EE_FREE = ("EE", "17.2.0-pre", "Free")
PERSONAL = "personal"

ON_EE = {
    "root": (EE_FREE, PERSONAL, True),
    "root_read": (EE_FREE, PERSONAL, True),
    "alice": (EE_FREE, PERSONAL, False),
    "bob": (EE_FREE, PERSONAL, False),
    "carol": (EE_FREE, PERSONAL, False),
    "dave": (EE_FREE, PERSONAL, False),
    "alice_read": (EE_FREE, PERSONAL, False),
    # read_user may read which GitLab it is, and not what a licence opens.
    "alice_user": (("EE", "17.2.0-pre", None), PERSONAL, False),
    "alice_repo": (("EE", None, None), None, None),
    "s_k8s_proxy": (("EE", None, None), None, None),
    "s_create_runner": (("EE", None, None), None, None),
    "pt_api": (("EE", None, "Free"), "project", False),
    "ptok": (("EE", None, "Free"), "project", False),
    "gt_api": (("EE", None, "Free"), "group", False),
    # Where the route is not there, nobody is asked for a token.
    "anon": (("EE", None, None), None, None),
    "bad": (("EE", None, None), None, None),
    "expired": ((None, None, None), None, None),
    "revoked": ((None, None, None), None, None),
}
"""Who asks: edition, version and tier; whose token it is; whether an administrator."""


@pytest.mark.parametrize("actor", ON_EE)
async def test_of_an_ee_without_a_licence_as_much_is_known_as_the_token_may_read(actor: str) -> None:
    ask = CachedLookups(Detected("detect_ee", actor), AnswerCache())
    instance, token = await ask.instance(), await ask.token()
    assert token is not None
    concluded = ((instance.edition, instance.version, instance.tier), token.kind, token.admin)
    assert concluded == ON_EE[actor]
    assert not instance.at_least


@pytest.mark.parametrize("actor", ON_EE)
async def test_every_token_finds_out_that_a_ce_is_free(actor: str) -> None:
    instance = await CachedLookups(Detected("detect_ce", actor), AnswerCache()).instance()
    assert (instance.edition, instance.tier) == ("CE", "Free")


@pytest.mark.parametrize(
    ("actor", "scopes"),
    [
        ("alice", ("api",)),
        ("alice_read", ("read_api",)),
        ("alice_user", ("read_user",)),
        ("alice_repo", ("read_repository",)),
        ("s_k8s_proxy", ("k8s_proxy",)),
        ("s_api_admin_mode", ("api", "admin_mode")),
        ("imp", ("api",)),
        ("gtok", ("read_api",)),
        ("pt_repo", ("read_repository",)),
    ],
)
@pytest.mark.parametrize("edition", ["ee", "ce"])
async def test_the_scopes_of_every_valid_token_are_known(
    edition: str, actor: str, scopes: tuple[str, ...]
) -> None:
    token = await CachedLookups(Detected(f"detect_{edition}", actor), AnswerCache()).token()
    assert token is not None
    assert (token.alive, token.scopes) == (True, scopes)


@pytest.mark.parametrize(
    ("actor", "problem"),
    [("expired", "expired"), ("revoked", "revoked"), ("bad", "unknown"), ("pt_revoked", "unknown")],
)
@pytest.mark.parametrize("edition", ["ee", "ce"])
async def test_it_is_known_why_a_token_is_not_valid(edition: str, actor: str, problem: str) -> None:
    token = await CachedLookups(Detected(f"detect_{edition}", actor), AnswerCache()).token()
    assert token is not None
    assert (token.alive, token.problem) == (False, problem)


@pytest.mark.parametrize("actor", ["gran_all", "gran_meta", "gran_one"])
@pytest.mark.parametrize(("edition", "tier"), [("ee", None), ("ce", "Free")])
async def test_a_fine_grained_token_is_alive_and_tells_the_edition_whatever_it_may_read(
    actor: str, edition: str, tier: str | None
) -> None:
    gitlab = Detected(f"detect_{edition}", actor, "19.3")
    ask = CachedLookups(gitlab, AnswerCache(), caller=actor)
    token, instance = await ask.token(), await ask.instance()
    assert token is not None
    assert (token.alive, token.fine_grained, token.problem) == (True, True, None)
    assert instance.edition == edition.upper()
    # What an EE without a licence answers to such a token does not say that it has none.
    assert instance.tier == tier


async def test_the_project_shows_a_fine_grained_token_that_an_ee_is_free() -> None:
    ask = CachedLookups(Detected("detect_ee", "gran_one", "19.3"), AnswerCache())
    known = (await effective_tier_at(ask, "26", None)).known
    assert known is not None
    assert known.name == "Free"


@pytest.mark.parametrize("actor", ["alice", "root", "ptok"])
async def test_a_token_with_scopes_is_not_fine_grained(actor: str) -> None:
    token = await CachedLookups(Detected("detect_ee", actor, "19.3"), AnswerCache()).token()
    assert token is not None
    assert (token.alive, token.fine_grained) == (True, False)


class Synthetic(Recorded):
    """A GitLab that nobody recorded: answers by path, everything else is not found."""

    def __init__(self, answers: Mapping[str, Any], base_url: str = "https://gitlab.example.com") -> None:
        self.base_url = base_url
        self._bodies = answers

    async def send(self, request: Request) -> Answer:
        if request.path in self._bodies:
            return Answer(200, {}, self._bodies[request.path])
        headers = {"content-type": "application/json"}
        raise Refused(request, 404, headers, b'{"message":"404 Project Not Found"}')


METADATA = {"/metadata": {"version": "18.9.0-ee", "enterprise": True}}
READABLE = {"id": 7, "requirements_access_level": "enabled"}
PREMIUM = {**READABLE, "allow_pipeline_trigger_approve_deployment": False}
ULTIMATE = {**PREMIUM, "only_allow_merge_if_all_status_checks_passed": False}
GROUP = {"id": 9, "prevent_forking_outside_group": False}
PAID_GROUP = {**GROUP, "allowed_email_domains_list": ""}
GITLAB_COM = "https://gitlab.com"


async def test_a_licensed_instance_is_premium_at_least() -> None:
    """Synthetic: the probe finds no project 0 instead of being refused."""
    instance = await CachedLookups(Synthetic(METADATA), AnswerCache()).instance()
    assert (instance.edition, instance.tier, instance.at_least) == ("EE", "Premium", True)


@pytest.mark.parametrize(
    ("project", "tier"), [(READABLE, "Free"), (PREMIUM, "Premium"), (ULTIMATE, "Ultimate"), ({"id": 7}, None)]
)
async def test_on_gitlab_com_the_project_shows_its_tier(project: Mapping[str, Any], tier: str | None) -> None:
    """Synthetic. Without the keys that every EE shows, nobody knows."""
    ask = CachedLookups(Synthetic({**METADATA, "/projects/7": project}, GITLAB_COM), AnswerCache())
    effective_tier = await effective_tier_at(ask, "7", None)
    assert effective_tier.instance.tier is None
    assert (effective_tier.known.name if effective_tier.known else None) == tier


@pytest.mark.parametrize(
    ("group", "plan", "known", "least"),
    [
        (GROUP, None, "Free", "Free"),
        (PAID_GROUP, None, None, "Premium"),
        (PAID_GROUP, "premium", "Premium", "Premium"),
        (PAID_GROUP, "ultimate_trial", "Ultimate", "Ultimate"),
        ({"id": 9}, None, None, "Free"),
    ],
)
async def test_on_gitlab_com_a_group_shows_its_tier_and_its_owner_the_plan(
    group: Mapping[str, Any], plan: str | None, known: str | None, least: str
) -> None:
    """Synthetic. Nothing of a group but its plan tells Ultimate from Premium."""
    answers = {**METADATA, "/groups/9": group, **({"/namespaces/9": {"plan": plan}} if plan else {})}
    effective_tier = await effective_tier_at(
        CachedLookups(Synthetic(answers, GITLAB_COM), AnswerCache()), None, "9"
    )
    assert (effective_tier.known.name if effective_tier.known else None) == known
    assert effective_tier.lowest_possible == least


async def test_two_namespaces_of_gitlab_com_are_told_apart() -> None:
    """Synthetic."""
    answers = {**METADATA, "/projects/7": PREMIUM, "/projects/8": READABLE}
    ask = CachedLookups(Synthetic(answers, GITLAB_COM), AnswerCache(), caller="alice")
    paid, free = await effective_tier_at(ask, "7", None), await effective_tier_at(ask, "8", None)
    assert (paid.known, free.known) == (
        ("Premium", "the project shows the settings of Premium"),
        ("Free", "the project shows the settings of Free"),
    )

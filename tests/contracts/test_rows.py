"""What holds of every row: each test is one loop over all of them."""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from gitlab_mcp.actions.action import Action, Danger, fill
from gitlab_mcp.actions.arguments.defaults import InstanceDefaults
from gitlab_mcp.actions.arguments.validation import validate
from gitlab_mcp.actions.ask import NobodyToAsk
from gitlab_mcp.actions.call import Call
from gitlab_mcp.actions.fields import NamesPlace
from gitlab_mcp.actions.reach import undeclared
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.sent_files import SentFile
from gitlab_mcp.actions.shape import shapes
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.api import row_answers, row_dangers, row_names, row_sentences
from gitlab_mcp.api.endpoints import normalised
from gitlab_mcp.api.operations import operations
from gitlab_mcp.app import App
from gitlab_mcp.callers import NOBODY_TO_ASK, CallerKey
from gitlab_mcp.calls.dispatch import LONGEST_ACTION_NAME
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.policy.allowed_places import AllowedPlaces
from gitlab_mcp.policy.guard import ProposedCall
from gitlab_mcp.settings import Secret, Settings
from gitlab_mcp.tiers.feature_map import tier_map
from tests.support.fault_server import FaultServer, replying

pytestmark = pytest.mark.anyio

REGISTRY = Registry()
ROWS = REGISTRY.rows()
ACTIONS = dict(zip(ROWS, REGISTRY.rows_of(), strict=True))
CURATED = [str(endpoint) for action in REGISTRY.actions() for endpoint in action.spec.endpoints]
NAMES = Path(__file__).with_name("row_names.txt")
DEFAULTS = InstanceDefaults("https://gitlab.example.com")
UNDECLARED = {
    "orbit_query.run": ["query"],
    "project_product_analytics_request_dry_run.create": ["query"],
    "project_product_analytics_request_load.create": ["query"],
}
"""Objects that can name anything: refused where places are limited."""


def call_of(action: type[Action], arguments: Mapping[str, Any]) -> Call:
    return validate(REGISTRY, action.spec.tool.name, {"action": action.spec.name, **arguments}, DEFAULTS)


def test_every_operation_is_an_action_a_row_or_left_out_with_a_reason() -> None:
    known = list(operations(CURATED))
    by_data = {normalised(each.endpoint) for each in known if each.reached_by == "data"}
    assert by_data == {normalised(row.endpoint) for row in ROWS.values()}
    assert all(each.reason.endswith(".") for each in known if each.reached_by == "excluded")


def test_what_has_a_class_has_no_row() -> None:
    curated = set(map(normalised, CURATED))
    assert [row.name for row in ROWS.values() if normalised(row.endpoint) in curated] == []


def test_a_name_that_was_given_stays_until_its_endpoint_has_a_class() -> None:
    given = dict(line.split(" ", 1) for line in NAMES.read_text("utf-8").splitlines())
    curated = set(map(normalised, CURATED))
    gone = {
        name for name, endpoint in given.items() if name not in ROWS and normalised(endpoint) not in curated
    }
    other = {name for name, endpoint in given.items() if name in ROWS and ROWS[name].endpoint != endpoint}
    assert (gone, other) == (set(), set())
    assert ROWS.keys() - given.keys() == set(), f"new rows: add them to {NAMES.name}"


def test_a_row_has_a_name_a_sentence_a_danger_and_a_toolset() -> None:
    for name, row in ROWS.items():
        assert re.fullmatch(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", name), name
        assert len(row.verb) <= LONGEST_ACTION_NAME, name
        assert re.fullmatch(r"[A-Z][^.\n]*(?:\.gitlab-ci\.yml[^.\n]*|GitLab\.com[^.\n]*)?\.", row.does), (
            row.does
        )
        assert len(row.does) <= 110, row.does
        assert row.danger in list(Danger) and row.toolset in TOOLSETS, name
        assert row.noun not in REGISTRY, name
        assert ACTIONS[name].spec.tool.toolset == row.toolset, name
    twice = [does for does, count in Counter(row.does for row in ROWS.values()).items() if count > 1]
    assert twice == []


def test_the_tables_of_rules_speak_of_rows_that_are_there() -> None:
    named = {
        *row_answers.RAW,
        *row_answers.SHOWN_ONCE,
        *row_dangers.READS_BY_POST,
        *row_dangers.SHOWS_A_SECRET,
        *row_dangers.NOT_THE_ADMINISTRATORS,
        *row_sentences.corrected(),
    }
    assert named - ROWS.keys() == set()
    unused = [
        pattern for _, pattern, _ in row_dangers.WIDER if not any(re.search(pattern, name) for name in ROWS)
    ]
    assert unused == []
    endpoints = {normalised(row.endpoint) for row in ROWS.values()} | set(map(normalised, CURATED))
    known = {normalised(each.endpoint) for each in operations(CURATED)}
    assert set(row_names.NAMES) - endpoints - known == set()


def test_what_gives_rights_or_shows_a_secret_asks_the_person() -> None:
    risky = re.compile(
        r"impersonat|(?:^|_)tokens?(?:_|\.)(?:create|rotate|revoke)|_member\.(?:approve|set)|\.transfer"
    )
    for name, row in ROWS.items():
        if row.once or (risky.search(name) and not row.endpoint.startswith("GET ")):
            assert row.danger in ("destructive", "dangerous"), name
        if row.endpoint.startswith("DELETE "):
            assert row.danger in ("destructive", "dangerous"), name
        if not row.endpoint.startswith("GET ") and row.danger == "read":
            assert name in row_dangers.READS_BY_POST, name


def test_what_moves_code_or_data_to_another_place_asks_the_person() -> None:
    assert ROWS["offline_export.create"].danger == "dangerous"
    for name in ("project_pull_mirror.start", "project_remote_mirror.sync"):
        assert ROWS[name].danger == "destructive", name


def test_the_example_of_a_row_is_a_call_whose_path_is_filled() -> None:
    for name, action in ACTIONS.items():
        found = call_of(action, action.spec.example).action
        if any(isinstance(value, SentFile) and value.content is None for value in found.given().values()):
            continue
        path = fill(
            found.endpoint().path, **{field: getattr(found, field) for field in found.endpoint().placeholders}
        )
        assert re.fullmatch(r"(?:/[\w.~%-]+)+", path), (name, path)


def test_every_field_that_names_a_thing_says_what_it_reaches() -> None:
    found = {}
    for name, action in ACTIONS.items():
        marks = [shape.mark(NamesPlace) for shape in shapes(action).values()]
        has_a_place = any(mark and mark.inside is None for mark in marks)
        if (missing := undeclared(action)) and (has_a_place or name in UNDECLARED):
            found[name] = missing
    assert found == UNDECLARED


async def test_inside_a_fence_no_row_gets_out_whose_place_was_not_looked_up() -> None:
    fence = AllowedPlaces(only=("acme",))
    caller = CallerKey("alice", "https://gitlab.example.com", None)
    for name, action in ACTIONS.items():
        call = call_of(action, action.spec.example)
        with pytest.raises(CallFailed) as refused:
            await fence(ProposedCall(call, caller, NobodyToAsk(), NOBODY_TO_ASK))
        assert refused.value.failure.code == "OUT_OF_SCOPE", name


HOSTILE = ("..", "../..", "a/b", "%2e%2e%2fadmin", "x?y=1#z", "x\r\nX-Evil: 1", "\x00", "é/../è", "x" * 2000)


def test_no_value_leads_out_of_its_segment_of_the_path() -> None:
    tried = 0
    for name, action in ACTIONS.items():
        [endpoint] = action.spec.endpoints
        for field in endpoint.placeholders:
            for value in HOSTILE:
                try:
                    found = call_of(action, {**action.spec.example, field: value}).action
                except CallFailed:
                    continue
                given = {each: getattr(found, each) for each in endpoint.placeholders}
                path = fill(endpoint.path, **given)
                segments = [unquote(each) for each in path.split("/")]
                assert len(segments) == len(endpoint.path.split("/")), (name, field, value)
                assert not {".", ".."} & set(segments) and quote(value, safe="") in path, (name, field, value)
                tried += 1
    assert tried > 2000


def _anything(chance: random.Random) -> Any:
    return chance.choice([
        None, True, 0, -1, 2**70, 1.5, "", " ", "me", "é" * 300, "\ud800", "[]", "{", '{"a": 1}', "1,2", [], [None],
        [[1]], {}, {"a": {"b": []}}, "2026-13-99", "".join(chance.choices(string.printable, k=12)),
    ])  # fmt: skip


def test_random_arguments_are_taken_or_refused_by_name() -> None:
    chance = random.Random(16)
    refused: Counter[str] = Counter()
    for name, action in ACTIONS.items():
        for _ in range(6):
            fields = [field for field in shapes(action) if chance.random() < 0.5]
            given = {**action.spec.example, **{field: _anything(chance) for field in fields}}
            given |= {"nonsense": 1} if chance.random() < 0.2 else {}
            try:
                call_of(action, given)
            except CallFailed as failed:
                refused[failed.failure.code] += 1
                assert failed.failure.facts["suggested_fix"], name
    assert "INTERNAL_ERROR" not in refused and sum(refused.values()) > 1000


def test_where_a_lost_answer_is_looked_for_is_a_read_that_can_be_made() -> None:
    looked = 0
    for name, action in ACTIONS.items():
        lookup = action.spec.recover_with
        if lookup is None:
            assert "POST" not in ROWS[name].endpoint or ROWS[name].look is None or not action.spec.writes, (
                name
            )
            continue
        tool, _, read = lookup.read.partition(" ")
        found = call_of(action, action.spec.example).action
        call = validate(REGISTRY, tool, {"action": read, **lookup.arguments(found)}, DEFAULTS)
        assert not call.action.spec.writes and lookup.because, name
        looked += 1
    assert looked > 100


def test_the_features_of_rows_are_on_the_map() -> None:
    features = tier_map().features
    assert {row.feature for row in ROWS.values() if row.feature} <= features.keys()
    assert {row.tier for row in ROWS.values() if row.tier} <= {"Premium", "Ultimate"}


@pytest.fixture
def server() -> Iterator[Callable[[int, Any], App]]:
    opened: list[tuple[App, FaultServer]] = []

    def make(status: int, body: Any) -> App:
        gitlab = FaultServer(replying(status, body))
        settings = Settings(
            url=gitlab.url,
            token=Secret("alice"),
            trust="dangerous",
            confirm="never",
            quota=(),
            toolsets=("all",),
        )
        opened.append((App(settings), gitlab))
        return opened[-1][0]

    yield make
    for app, gitlab in opened:
        app.close()
        gitlab.__exit__()


async def test_a_refusal_of_a_row_is_explained(server: Callable[[int, Any], App]) -> None:
    app = server(403, {"message": "403 Forbidden"})
    codes: Counter[str] = Counter()
    for name, action in list(ACTIONS.items())[::20]:
        arguments = {"action": action.spec.name, **action.spec.example}
        with pytest.raises(CallFailed) as refused:
            await app.call(action.spec.tool.name, arguments)
        codes[refused.value.failure.code] += 1
        assert refused.value.failure.code != "INTERNAL_ERROR", name
    assert codes.keys() <= {
        "PERMISSION_DENIED",
        "TIER_RESTRICTED",
        "FEATURE_UNAVAILABLE",
        "FORBIDDEN",
        "NOT_FOUND",
    }

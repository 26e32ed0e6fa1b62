from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vcr.serialize import deserialize
from vcr.serializers import jsonserializer

from tests.support.for_each import for_each
from tests.support.recordings import recorded_names, rows
from tests.support.versions import ALL_CASSETTES, VERSIONS, cassettes_of

RECORDINGS = [(version, name) for version in VERSIONS for name in recorded_names(version)]
FILES = sorted(ALL_CASSETTES.rglob("*.json"))
SECRETS = re.compile(
    r"\bgl[a-z]{2,5}-[\w.-]{8,}|GR1348941|BEGIN [A-Z ]*PRIVATE KEY"
    r'|"(?:runners_token|feed_token|private_token|token|password)\\?":\s*\\?"(?!REDACTED)\w'
)


def interactions(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="ascii"))["interactions"]
    return found


def questions(path: Path) -> Iterator[str]:
    for each in interactions(path):
        request = each["request"]
        yield json.dumps(
            [request["headers"]["X-Recorded-As"], request["method"], request["uri"], request["body"]]
        )


@for_each(FILES, lambda path: str(path.relative_to(ALL_CASSETTES)))
def test_a_cassette_loads_with_the_loader_of_vcrpy(path: Path) -> None:
    requests, responses = deserialize(path.read_text(encoding="ascii"), jsonserializer)
    assert len(requests) == len(responses) > 0
    assert {request.host for request in requests} == {"gitlab.example.com"}


@for_each(FILES, lambda path: str(path.relative_to(ALL_CASSETTES)))
def test_alice_is_the_default_caller_wherever_she_appears(path: Path) -> None:
    callers = [each["request"]["headers"]["X-Recorded-As"][0] for each in interactions(path)]
    assert "alice" not in callers or callers[0] == "alice"


@for_each(FILES, lambda path: str(path.relative_to(ALL_CASSETTES)))
def test_a_write_carries_its_fields_in_its_body(path: Path) -> None:
    for each in interactions(path):
        request = each["request"]
        if request["method"] in ("POST", "PUT", "PATCH"):
            # Where the body is a file as it is, the query is the only place for them.
            is_file = request["body"] is not None and not request["body"].startswith(("{", "["))
            assert is_file or "?" not in request["uri"]
        else:
            assert request["body"] is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_is_answered_by_one_file_only(version: str) -> None:
    owners: dict[str, str] = {}
    for path in cassettes_of(version).glob("*.json"):
        for question in set(questions(path)):
            assert owners.setdefault(question, path.name) == path.name


@for_each(FILES, lambda path: str(path.relative_to(ALL_CASSETTES)))
def test_no_cassette_holds_a_secret(path: Path) -> None:
    assert SECRETS.findall(path.read_text(encoding="ascii")) == []


@for_each(RECORDINGS, " ".join)
def test_no_recording_holds_a_secret(recording: tuple[str, str]) -> None:
    version, name = recording
    recorded = rows(name, version)
    assert recorded
    assert SECRETS.findall(json.dumps(recorded)) == []


def test_the_search_for_secrets_finds_one() -> None:
    found = json.dumps({"body": json.dumps({"runners_token": "abc"})})
    assert SECRETS.search(found)
    assert SECRETS.search("glpat-" + "x" * 20)

"""One failure, every dialect: what each code looks like in each is written down, and a change of it is seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

from gitlab_mcp.failures.codes import CODES
from gitlab_mcp.failures.render import STYLES, render
from tests.support.dialects import failure_of, in_every_dialect, printed
from tests.support.for_each import for_each

HERE = Path(__file__).parent
EXAMPLES: dict[str, dict[str, Any]] = json.loads(
    (HERE.parent.parent / "src/gitlab_mcp/failures/examples.json").read_text("utf-8")
)

RFC_9457 = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string", "minLength": 1},
        "status": {"type": "integer", "minimum": 100, "maximum": 599},
        "detail": {"type": "string", "minLength": 1},
        "instance": {"type": "string", "pattern": "^urn:gitlab-mcp:[a-z_]+:[a-z_]+$"},
        "code": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
    },
}


def test_every_code_in_every_dialect_is_as_it_was_written_down() -> None:
    assert set(EXAMPLES) == set(CODES)
    assert (HERE / "dialects.json").read_text("utf-8") == printed(EXAMPLES), "see the diff: run `make docs`"


@for_each(CODES)
def test_a_problem_is_what_rfc_9457_asks_for(code: str) -> None:
    problem = render(failure_of(EXAMPLES[code]["answer"]), "problem")["problem"]
    jsonschema.validate(problem, RFC_9457)


@for_each(CODES)
def test_no_dialect_drops_a_fact(code: str) -> None:
    shown = in_every_dialect({code: EXAMPLES[code]})[code]
    facts = failure_of(EXAMPLES[code]["answer"]).facts
    for style in STYLES:
        words = json.dumps(shown[style], ensure_ascii=False)
        for name in ("suggested_fix", "docs_url", "check_with", "confirmation_token", "event_id"):
            if isinstance(facts.get(name), str):
                assert json.dumps(facts[name], ensure_ascii=False)[1:-1] in words, (style, name)

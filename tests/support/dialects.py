"""Every code in every dialect, from the examples of the error reference. `make docs` prints it to dialects.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.failures.render import STYLES, as_text, render


def failure_of(answer: Mapping[str, Any]) -> Failure:
    """The failure behind an answer in the default dialect, which says all that is known."""
    facts = {name: value for name, value in answer.items() if name not in ("error", "error_code", "message")}
    return Failure(answer["error_code"], answer["message"], facts)


def in_every_dialect(examples: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for code, example in examples.items():
        failure = failure_of(example["answer"])
        found[code] = {style: render(failure, style) for style in STYLES}
        found[code]["for a person"] = as_text(failure)
    return found


def printed(examples: Mapping[str, Mapping[str, Any]]) -> str:
    """A rendering a line, so that a diff shows which dialect changed."""
    lines = (
        f'"{code} {style}": {json.dumps(shown, ensure_ascii=False)}'
        for code, styles in in_every_dialect(examples).items()
        for style, shown in styles.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"

"""`gitlab-mcp errors`: what each code means and what to do about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import table, wrapped, write_json, write_line
from gitlab_mcp.cli.usage_error import no_such
from gitlab_mcp.failures.codes import CODES, Code, CodeEntry


def show_errors(name: str | None, *, as_json: bool) -> int:
    if name is None:
        if as_json:
            examples = _examples()
            write_json([{**_described(code), "example": examples[code.name]} for code in CODES.values()])
        else:
            rows = [[code.name, code.title, str(code.status), code.recovery.value] for code in CODES.values()]
            write_line(table(rows, ["CODE", "TITLE", "HTTP", "AGAIN?"]))
        return exit_codes.OK
    wanted = name.upper().replace("-", "_")
    if wanted not in CODES:
        raise no_such("error code", name.upper(), CODES, "`gitlab-mcp errors` lists all codes.")
    code = CODES[Code(wanted)]
    if as_json:
        write_json({**_described(code), "example": _examples()[code.name]})
    else:
        write_line(f"{code.name}: {code.title} (HTTP {code.status}, call again: {code.recovery.value})\n")
        write_line(wrapped(f"Cause:  {code.cause}"))
        write_line(wrapped(f"Agent:  {code.agent}"))
        write_line(wrapped(f"Person: {code.person}"))
        write_line(
            f"\nIn other vocabularies: {code.aql} (aql), {code.toolerror} (toolerror), {code.slug} (problem)"
        )
        example = _examples()[code.name]
        write_line(f"\nExample ({example['source']}):")
        write_json(example["answer"])
    return exit_codes.OK


def _examples() -> dict[str, Any]:
    # importlib.resources takes as long to import as all the rest.
    text = (Path(__file__).parents[1] / "failures" / "examples.json").read_text("utf-8")
    examples: dict[str, Any] = json.loads(text)
    return examples


def _described(code: CodeEntry) -> dict[str, Any]:
    return {
        "code": code.name,
        "title": code.title,
        "http_status": code.status,
        "retryable": code.retryable,
        "recovery": code.recovery.value,
        "cause": code.cause,
        "agent": code.agent,
        "person": code.person,
        "aql": code.aql,
        "toolerror": code.toolerror,
        "problem": code.slug,
    }

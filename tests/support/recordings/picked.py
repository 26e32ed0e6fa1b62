"""Single exchanges out of a cassette, to be played in an order of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def picked(cassette: Path, method: str, end: str, caller: str = "alice") -> list[dict[str, Any]]:
    """What a cassette holds of the questions whose address ends so, as rows like those of `rows`."""
    found = []
    for interaction in json.loads(cassette.read_text("utf-8"))["interactions"]:
        request, response = interaction["request"], interaction["response"]
        asked = (request["headers"]["X-Recorded-As"], request["method"])
        if asked != ([caller], method) or not request["uri"].endswith(end):
            continue
        found.append(
            {
                "actor": caller,
                "method": method,
                "path": request["uri"],
                "request": request["body"],
                "status": response["status"]["code"],
                "headers": {name: values[0] for name, values in response["headers"].items()},
                "body": response["body"]["string"],
            }
        )
    assert found, f"{method} {end} is not in {cassette.name}"
    return found

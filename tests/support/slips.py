"""What agents and people say instead of our names, and a grade for what the server makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

Grade = Literal["taken", "right", "silent", "wrong"]

SLIPS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("slips.json").read_text("utf-8"))["slips"]


def grade(slip: Mapping[str, Any], told: Mapping[str, Any]) -> Grade:
    """`told` holds the facts of the failure, or the data of the result."""
    taken, fix = told.get("taken_as") or {}, str(told.get("suggested_fix", ""))
    guessed = _guessed(told)
    search = (told.get("send") or {}).get("tool") == "find_actions"
    meant: str = slip["meant"]
    if re.search(r"\bleave out\b", fix, re.IGNORECASE):
        return "wrong"
    if meant.startswith("NOT "):
        return "wrong" if meant[4:] in guessed else "right" if fix else "silent"
    if meant == "-" or meant.startswith("("):
        if guessed:
            return "wrong"
        return "right" if search or told.get("unknown_fields") else "silent"
    choices = _choices(meant)
    everything = " ".join([fix, json.dumps(taken), *guessed, *map(str, _names(told))])
    words = set(re.findall(r"\w+", everything)) | {slip["arguments"].get("action"), *slip["arguments"]}
    if all(choice & words for choice in choices):
        return "taken" if taken and not told.get("unknown_fields") else "right"
    return "wrong" if guessed else "silent"


def _guessed(told: Mapping[str, Any]) -> set[str]:
    """Every name that is put forward in place of what was said."""
    taken, guess, send = told.get("taken_as") or {}, told.get("did_you_mean") or {}, told.get("send") or {}
    names = {taken.get("action", ""), *taken.get("arguments", {})}
    names |= (
        set(guess.values())
        if isinstance(guess, Mapping)
        else {guess}
        if isinstance(guess, str)
        else set(guess)
    )
    if send.get("tool") != "find_actions":
        names |= {send.get("tool", ""), send.get("arguments", {}).get("action", "")}
    return {word for name in names for word in name.split()}


def _names(told: Mapping[str, Any]) -> list[str]:
    return [each["field"] for each in told.get("invalid_fields", ())] + list(told.get("missing_fields", ()))


def _choices(meant: str) -> list[set[str]]:
    """`failure_digest/jobs` is one of two; what stands behind = or in brackets explains."""
    words = re.sub(r"=\S+|\(.*?\)|Draft:", "", meant).replace("+", " ").split()
    return [set(word.split("/")) for word in words]

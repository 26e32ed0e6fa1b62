"""What a client of the last release would notice: names that are gone, fields that are required now, and so on.

python scripts/interface.py              print it, and the version that it takes at least
python scripts/interface.py --release    remember the present interface as that of __version__; refused where that
                                         version promises more than is kept
python scripts/interface.py --released TAG    fail where the tag, the version, the changelog and this do not agree

The interface of the last release is in released/interface.jsonl. Before the first release there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gitlab_mcp import __version__
from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.cli import exit_codes
from gitlab_mcp.failures.codes import CODES
from gitlab_mcp.settings import SETTINGS

ROOT = Path(__file__).resolve().parent.parent
RELEASED = ROOT / "released" / "interface.jsonl"
CHANGELOG = ROOT / "CHANGELOG.md"
Interface = Mapping[str, Mapping[str, Any]]
"""What can be named by a client or an operator, each with what is promised of it."""


@dataclass(frozen=True, slots=True)
class Noticed:
    what: str
    breaks: bool
    """Whether something that worked may not work any more."""


def interface() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for action in _actions():
        name = f"action {action.spec.tool.name} {action.spec.name}"
        found[name] = {
            "danger": action.spec.danger.value,
            "required": required_fields(action),
            "fields": {name: _promised(shape) for name, shape in shapes(action).items()},
        }
        for tool, former in action.spec.moved_from:
            found[f"action {tool} {former}"] = {"now": name, "until": action.spec.moved_until}
    for setting in SETTINGS:
        found |= {f"variable {each}": {} for each in setting.environment}
        if setting.flag:
            found[f"flag {setting.flag}"] = {}
        if setting.in_file:
            found[f"setting {setting.name}"] = {}
    found |= {f"error code {code}": {"status": entry.status} for code, entry in sorted(CODES.items())}
    found |= {f"exit code {code}": {"means": means} for code, means in exit_codes.MEANINGS.items()}
    return found


def _promised(shape: Shape) -> dict[str, Any]:
    return {"type": shape.type, **({"values": list(shape.values)} if shape.values else {})}


def noticed(before: Interface, now: Interface, today: str) -> Iterator[Noticed]:
    """A former name may go once its date has passed; whoever used it was told."""
    for name, promised in before.items():
        if name not in now:
            ended = "until" in promised and promised["until"] < today
            yield Noticed(f"{name} is gone{', as was said' if ended else ''}", breaks=not ended)
        elif "until" not in now[name]:
            yield from _changed(name, promised, now[name])
        elif "until" not in promised:
            present, until = now[name]["now"], now[name]["until"]
            yield Noticed(f"{name} is {present} now; its former name works until {until}", breaks=False)
            yield from _changed(name, promised, now[present])
        elif now[name]["until"] < promised["until"]:
            yield Noticed(f"{name} ends earlier than was said, on {now[name]['until']}", breaks=True)
    for name in now:
        if name not in before:
            yield Noticed(f"{name} is new", breaks=False)


def _changed(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Noticed]:
    for fact in ("danger", "status", "means"):
        if before.get(fact) != now.get(fact):
            yield Noticed(f"{name}: {fact} was {before.get(fact)} and is {now.get(fact)}", breaks=True)
    for field in now.get("required", ()):
        ways = set(field.split("|"))
        if not any(ways >= set(former.split("|")) for former in before["required"]):
            yield Noticed(f"{name}: {field} is required now", breaks=True)
    fields, present = before.get("fields", {}), now.get("fields", {})
    for field, promised in fields.items():
        if field not in present:
            yield Noticed(f"{name}: the field {field} is gone", breaks=True)
            continue
        if promised["type"] != present[field]["type"]:
            was, is_now = promised["type"], present[field]["type"]
            yield Noticed(f"{name}: {field} was of the type {was} and is {is_now}", breaks=True)
        # Where any value is taken now, none is gone.
        if values := present[field].get("values"):
            gone = [value for value in promised.get("values", ()) if value not in values]
            if gone or "values" not in promised:
                yield Noticed(
                    f"{name}: {field} no longer takes {', '.join(gone) or 'any value'}", breaks=True
                )
            if more := [value for value in values if value not in promised.get("values", values)]:
                yield Noticed(f"{name}: {field} takes {', '.join(more)} too", breaks=False)
    for field in present.keys() - fields.keys():
        yield Noticed(f"{name}: the field {field} is new", breaks=False)


def least_version(released: str, changes: list[Noticed]) -> str:
    major, minor, patch = map(int, released.split("."))
    if any(each.breaks for each in changes):
        return f"0.{minor + 1}.0" if major == 0 else f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if changes else f"{major}.{minor}.{patch + 1}"


def _actions() -> Iterator[type[Action]]:
    registry = Registry()
    yield from registry.actions()
    yield from registry.rows_of("all")


def read_released() -> tuple[str, dict[str, dict[str, Any]]] | None:
    if not RELEASED.exists():
        return None
    version, *lines = map(json.loads, RELEASED.read_text("utf-8").splitlines())
    return version["version"], {line.pop("name"): line for line in lines}


def written(version: str, found: Interface) -> str:
    lines = [{"version": version}, *({"name": name, **promised} for name, promised in found.items())]
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


def main() -> int:
    now, today = interface(), date.today().isoformat()
    last = read_released()
    if last is None:
        print("Nothing was released yet: there is nothing that a client could miss.")
    else:
        version, before = last
        changes = list(noticed(before, now, today))
        for change in sorted(changes, key=lambda each: not each.breaks):
            print(f"{'! ' if change.breaks else '  '}{change.what}")
        least = least_version(version, changes)
        print(f"Since {version}: {len(changes)} changes. The next version is at least {least}.")
        if "--release" in sys.argv and changes and _numbers(__version__) < _numbers(least):
            sys.stderr.write(f"{__version__} would promise too much: this is {least} at least.\n")
            return 1
    for name, promised in now.items():
        if promised.get("until", today) < today:
            print(f"{name} has ended on {promised['until']}: it can be taken out of moved_from.")
    if "--released" in sys.argv:
        return _told_wrong(sys.argv[sys.argv.index("--released") + 1], now)
    if "--release" in sys.argv:
        RELEASED.parent.mkdir(exist_ok=True)
        RELEASED.write_text(written(__version__, now), "utf-8")
    return 0


def _told_wrong(tag: str, now: Interface) -> int:
    """What of a release does not go together."""
    wrong = []
    if tag != f"v{__version__}":
        wrong.append(f"The tag {tag} is not v{__version__}, the version of the package.")
    if f"\n## {__version__} " not in CHANGELOG.read_text("utf-8"):
        wrong.append(f"CHANGELOG.md has no section for {__version__}.")
    if read_released() != (__version__, now):
        wrong.append(
            "The interface was not remembered: run `scripts/interface.py --release` and commit what changes."
        )
    for each in wrong:
        sys.stderr.write(f"{each}\n")
    return 1 if wrong else 0


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    sys.exit(main())

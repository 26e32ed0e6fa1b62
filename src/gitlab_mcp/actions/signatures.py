"""What each action of a tool requires, in one short sentence of the tool's description.

`Required: issue_iid (except create); create(title); move, clone(to_project_id).`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Needs = Mapping[str, Sequence[str]]
"""The required fields by action."""


def required_sentence(needs: Needs) -> str:
    """Nothing where no action requires a field that is not the same for all."""
    return min((_with_one_signature_each(needs), _with_most_said_once(needs)), key=len)


def shared_by_all(lists: Sequence[Sequence[str]]) -> list[str]:
    return [name for name in lists[0] if all(name in names for names in lists[1:])]


def _with_one_signature_each(needs: Needs) -> str:
    groups = _groups(needs)
    common = max(groups, key=lambda group: len(groups[group]))
    signatures = _signatures(groups, but=common, also_empty=bool(common))
    if common:
        signatures.append(f"{'others' if len(groups) > 1 else 'all'}({', '.join(common)})")
    return _sentence(signatures)


def _with_most_said_once(needs: Needs) -> str:
    """A field that half of the actions or more require stands first, with the actions that do not."""
    exceptions: dict[tuple[str, ...], list[str]] = {}
    for field in dict.fromkeys(field for fields in needs.values() for field in fields):
        without = tuple(name for name, fields in needs.items() if field not in fields)
        if len(without) * 2 <= len(needs):
            exceptions.setdefault(without, []).append(field)
    said = {field for fields in exceptions.values() for field in fields}
    rest = {name: [field for field in fields if field not in said] for name, fields in needs.items()}
    ahead = [f"{', '.join(fields)} (except {', '.join(names)})" for names, fields in exceptions.items()]
    return _sentence([*ahead, *_signatures(_groups(rest))])


def _groups(needs: Needs) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, fields in needs.items():
        groups.setdefault(tuple(fields), []).append(name)
    return groups


def _signatures(
    groups: Mapping[tuple[str, ...], Iterable[str]],
    but: tuple[str, ...] | None = None,
    *,
    also_empty: bool = False,
) -> list[str]:
    return [
        f"{', '.join(names)}({', '.join(fields)})"
        for fields, names in groups.items()
        if fields != but and (fields or also_empty)
    ]


def _sentence(parts: Sequence[str]) -> str:
    return f"Required: {'; '.join(parts)}." if parts else ""

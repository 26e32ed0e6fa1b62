"""The pages of docs/reference/ that are printed from the code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.call import Options
from gitlab_mcp.actions.danger import Danger, Risk
from gitlab_mcp.actions.schema import required_fields
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.actions.token_needs import by_resource
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.api.coverage import Coverage
from gitlab_mcp.api.row_dangers import why
from gitlab_mcp.api.rows import Row
from gitlab_mcp.failures.codes import CODES, NOTICES, CodeEntry
from gitlab_mcp.failures.facts import FACTS
from gitlab_mcp.tiers.feature_map import Behaviour, Feature, TierMap
from gitlab_mcp.tiers.requirements import ActionRequirements, requirements_of_action

PRINTED = "<!-- Printed from the code by `make docs`. Edit the declaration, not this page. -->\n\n"


def tools_page(toolset: str, tools: list[Tool], tiers: TierMap) -> str:
    parts = [f"# The {toolset} toolset\n"]
    for tool in tools:
        parts.append(f"## {tool.name}\n\n{tool.about}\n")
        parts.append(
            _table(("action", "what it does", "needs", "danger", "tier", "role"), _actions(tool, tiers))
        )
        parts.append(_table(("field", "type", "for"), _fields(tool, tiers)))
        for name, action in tool.actions.items():
            endpoints = "<br>".join(f"`{endpoint}`" for endpoint in action.spec.endpoints)
            page = f"[GitLab's page](https://docs.gitlab.com/{action.spec.docs})"
            parts.append(f"`{name}`: {endpoints} ({page}){_undone_by(action)}<br>")
        parts.append("")
    return PRINTED + "\n".join(parts)


def _undone_by(action: type[Action]) -> str:
    if action.spec.undo is None:
        return ""
    tool, name = action.spec.undo.names(action)
    return f", taken back by `{name}`" if tool == action.spec.tool.name else f", taken back by `{tool} {name}`"


def index_page(toolsets: dict[str, list[Tool]]) -> str:
    options = _table(
        ("field", "type"), ((f"`{name}`", _type(shape)) for name, shape in shapes(Options).items())
    )
    return (
        PRINTED
        + "# Tools\n\n"
        + tool_table(toolsets, "")
        + "\nEvery action also takes these fields:\n\n"
        + options
    )


def tool_table(toolsets: dict[str, list[Tool]], folder: str) -> str:
    """For the index, and for the README."""
    rows = (
        (f"[{toolset}]({folder}{toolset}.md)", f"`{tool.name}`", ", ".join(tool.actions))
        for toolset, tools in toolsets.items()
        for tool in tools
    )
    return _table(("toolset", "tool", "actions"), rows)


def permissions_table(toolsets: dict[str, list[Tool]]) -> str:
    """What a fine-grained token needs for each toolset."""
    return _table(
        ("toolset", "resource", "where", "to read", "to write as well"),
        (row for toolset, tools in toolsets.items() for row in _permission_rows(toolset, tools)),
    )


def _permission_rows(toolset: str, tools: list[Tool]) -> Iterator[tuple[str, ...]]:
    actions = [action.spec for tool in tools for action in tool.actions.values()]
    reads = by_resource(needs for spec in actions if not spec.writes for needs in spec.token_needs.values())
    for resource, (permissions, places) in by_resource(
        needs for spec in actions for needs in spec.token_needs.values()
    ).items():
        to_read, _ = reads.get(resource, ((), ()))
        to_write = [each for each in permissions if each not in to_read]
        yield toolset, resource, ", ".join(places), ", ".join(to_read), ", ".join(to_write)


def errors_page(examples: Mapping[str, Mapping[str, Any]]) -> str:
    rows = (
        (f"[`{code.name}`](#{code.name.lower()})", code.title, str(code.status), code.recovery.value)
        for code in CODES.values()
    )
    index = _table(("code", "what happened", "status", "try again"), rows)
    facts = _table(("fact", "what it says"), ((f"`{name}`", about) for name, about in FACTS.items()))
    warnings = _table(
        ("warning of a success", "what it says"), ((f"`{name}`", about) for name, about in NOTICES.items())
    )
    sections = (_error(code, examples[code.name]) for code in CODES.values())
    opening = "# Errors\n\nIn which shapes they can be had: [the guide](../guides/errors.md).\n\n"
    tables = f"{index}\n## Warnings\n\n{warnings}\n## Facts\n\n{facts}\n"
    return PRINTED + opening + tables + "\n".join(sections)


def _error(code: CodeEntry, example: Mapping[str, Any]) -> str:
    lines = [
        f"## {code.name}",
        "",
        f"{code.title}: {code.cause}",
        "",
        f"- Agent: {code.agent}",
        f"- Person: {code.person}",
        f"- In other dialects: `{code.aql}` (aql), `{code.toolerror}` (toolerror), `{code.slug}` (problem)",
        "",
        f"{SOURCES[example['source']]}{_asked(example)}",
        "",
        "```json",
        json.dumps(example["answer"], ensure_ascii=False, indent=2),
        "```",
        "",
    ]
    return "\n".join(lines)


SOURCES = {
    "recorded": "Recorded",
    "this server alone": "Before GitLab is asked",
    "synthetic": "Synthetic, because it cannot be recorded",
}


def _asked(example: Mapping[str, Any]) -> str:
    call, gitlab = example.get("call"), example.get("gitlab")
    text = ""
    if call:
        arguments = json.dumps(call["arguments"], ensure_ascii=False)
        text += f": `{call['tool']}` with `{arguments}`"
    if gitlab:
        text += f"; GitLab answered {gitlab['status']} with `{gitlab['body']}`"
    return text + "."


EDITIONS = {
    "ee_without_license": "Enterprise Edition without a licence",
    "gitlab_com_free": "GitLab.com Free",
    "ce": "Community Edition",
}
EFFECTS = {
    "refused": "refuses it",
    "dropped": "takes the call and drops it",
    "not_enforced": "keeps it and does not act on it",
    "empty": "answers with nothing",
    "works": "does it all the same",
}


def tiers_page(tools: list[Tool], tiers: TierMap) -> str:
    """Every paid feature that an action here needs, and what GitLab does without it."""
    users: dict[str, list[str]] = {}
    for tool in tools:
        for name, action in tool.actions.items():
            for feature in requirements_of_action(action, tiers).features:
                users.setdefault(feature.key, []).append(f"`{tool.name} {name}`")
    parts = [
        "# Tiers\n\nThe features that GitLab sells and actions of this server use. The facts are those of "
        "`tier_features.yaml`; [the guide](../guides/tiers.md) says how they are used.\n"
    ]
    for key, actions in sorted(users.items(), key=lambda each: tiers[each[0]].name):
        parts.append(_feature(tiers[key], actions))
    return PRINTED + "\n".join(parts)


def _feature(feature: Feature, actions: list[str]) -> str:
    lines = [f'<a id="{feature.key}"></a>\n', f"## {feature.name}\n"]
    earlier = "".join(f"; {was.tier} before {'.'.join(map(str, was.before))}" for was in feature.earlier)
    lines.append(f"**{feature.tier}**{earlier} · [GitLab's page](https://docs.gitlab.com/{feature.docs})\n")
    lines.append(f"For {', '.join(actions)}.\n")
    for edition, behaviours in feature.without_it.items():
        for behaviour in behaviours:
            status = f" ({behaviour.status})" if behaviour.status else ""
            does = f"{EDITIONS[edition]} {_versions(behaviour)}{EFFECTS[behaviour.effect]}{status}"
            lines.append(f"- {does}: {behaviour.basis}")
    for other in feature.alternatives:
        instead = f"`{other.action}`" if other.action else f"{other.where} in GitLab's pages"
        lines.append(f"- Instead, on {other.tier}: {instead}. {other.why}")
    return "\n".join(lines) + "\n"


def _versions(behaviour: Behaviour) -> str:
    """Such as `up to 17.2 `; nothing where no version differs."""
    since, until = behaviour.since, behaviour.until
    words = f"since {'.'.join(map(str, since))}" if since else ""
    words = f"{words} up to {'.'.join(map(str, until))}" if until else words
    return f"{words.strip()} " if words else ""


def _badge(feature: Feature) -> str:
    where = " on GitLab.com" if feature.is_paid_on_gitlab_com_alone else ""
    return f"[{feature.tier}{where}](tiers.md#{feature.key})"


def _tier(price: ActionRequirements) -> str:
    whole = _badge(price.feature) if price.feature else "Free"
    places = price.above(price.by_path_field)
    return "; ".join([whole, *(f"{_badge(price.by_path_field[name])} with {name}" for name in places)])


def _actions(tool: Tool, tiers: TierMap) -> Iterable[tuple[str, ...]]:
    for name, action in tool.actions.items():
        spec = action.spec
        yield (
            f"`{name}`",
            " ".join((action.__doc__ or "").split()),
            ", ".join(field.replace("|", " or ") for field in required_fields(action)),
            spec.danger.value,
            _tier(requirements_of_action(action, tiers)),
            spec.role.name.lower() if spec.role else "",
        )


def _fields(tool: Tool, tiers: TierMap) -> Iterable[tuple[str, ...]]:
    users: dict[str, list[type[Action]]] = {}
    for action in tool.actions.values():
        for name in shapes(action):
            users.setdefault(name, []).append(action)
    for name, actions in users.items():
        paid = next(
            (
                fields[name]
                for each in actions
                if name in (fields := requirements_of_action(each, tiers).by_field)
            ),
            None,
        )
        names = [action.spec.name for action in actions]
        yield (
            f"`{name}`",
            _type(shapes(actions[0])[name]) + (f" ({_badge(paid)}{_only(paid, name)})" if paid else ""),
            "all" if len(names) == len(tool.actions) else ", ".join(names),
        )


def _only(paid: Feature, name: str) -> str:
    values = paid.only.get(name)
    return f" for {values if isinstance(values, str) else ', '.join(map(str, values))}" if values else ""


def _type(shape: Shape) -> str:
    return shape.expects + (f". {shape.description}" if shape.description else "")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def coverage_sentence(found: Coverage, folder: str) -> str:
    """For the README."""
    counts = found.counts
    return (
        f"That is {counts['curated']:,} of the {counts.total():,} operations of GitLab's API. {counts['data']:,} more "
        f"can be called from [data]({folder}rows.md), by names that are in no listing; the other {counts['excluded']} "
        "are no person's to call, as `gitlab-mcp tools --coverage` says of each.\n"
    )


def rows_page(rows: Iterable[Row], found: Coverage) -> str:
    """Every row, by toolset and noun, with how dangerous it is and why."""
    by_toolset: dict[str, list[Row]] = {}
    for row in rows:
        by_toolset.setdefault(row.toolset, []).append(row)
    groups = ((name, str(found.in_group[name]), because) for name, because in sorted(found.groups.items()))
    parts = [
        "# Rows\n",
        "What no tool has an action for is called by its name: `gitlab-mcp call project_badge create`. "
        "[Why](../decisions/rows.md). The endpoint has the fields; `gitlab-mcp tools --json` lists them.\n",
        "## Left out\n",
        _table(("what", "operations", "because"), groups),
    ]
    for toolset in TOOLSETS:
        if toolset in by_toolset:
            parts.append(f"## {toolset}\n")
            parts.append(
                _table(("row", "what it does", "endpoint", "danger"), map(_row, by_toolset[toolset]))
            )
    return PRINTED + "\n".join(parts)


def _row(row: Row) -> tuple[str, ...]:
    because = why(row.name) if row.danger in ("destructive", "dangerous") else ""
    return (
        f"`{row.noun} {row.verb}`",
        row.does,
        f"`{row.endpoint}`",
        ": ".join(filter(None, (row.danger, because))),
    )


def danger_tables(tools: list[Tool]) -> str:
    """Which actions are destructive or dangerous, and which values make others so."""
    kinds = (Danger.DESTRUCTIVE, Danger.DANGEROUS)
    actions = [action for tool in tools for action in tool.actions.values() if action.spec.writes]
    by_kind = []
    for kind in kinds:
        names: dict[str, list[str]] = {}
        for action in actions:
            if action.spec.danger is kind:
                names.setdefault(action.spec.tool.name, []).append(action.spec.name)
        by_kind += [(kind.value, f"`{tool}`", ", ".join(of_tool)) for tool, of_tool in names.items()]
    by_value: dict[tuple[str, Risk], list[str]] = {}
    for action in actions:
        for name, shape in shapes(action).items():
            for mark in shape.marks:
                if isinstance(mark, Risk) and mark.danger.rank > action.spec.danger.rank:
                    by_value.setdefault((f"`{action.spec.tool.name} {action.spec.name}`", mark), []).append(
                        f"`{name}`"
                    )
    rows = [
        (action, f"{', '.join(fields)}: {risk.values}", risk.danger.value, risk.because)
        for (action, risk), fields in by_value.items()
    ]
    anywhere = (
        "any with a text",
        "`quick_actions`: true",
        "destructive",
        "commands in the text are carried out",
    )
    return "\n".join(
        [
            _table(("kind", "tool", "actions"), by_kind),
            "Some values make an action more dangerous than it is otherwise. Where the thing has the value already,",
            "nobody is asked.",
            "",
            _table(("action", "with", "counts as", "because"), [*rows, anywhere]),
        ]
    )

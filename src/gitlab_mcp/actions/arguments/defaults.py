"""Arguments a call may leave out: ids that a given URL names, and the default project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.arguments import urls
from gitlab_mcp.actions.arguments.problems import Problems, safe_to_repeat
from gitlab_mcp.actions.shape import Shape, shapes
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure


@dataclass(frozen=True, slots=True)
class InstanceDefaults:
    """The URL of this GitLab, and the project that is meant where none is named."""

    base_url: str
    project: str | None = None


def fill_in(
    action: type[Action],
    given: dict[str, Any],
    url: str | None,
    defaults: InstanceDefaults,
    problems: Problems,
) -> None:
    """Complete the arguments in place."""
    fields = shapes(action)
    links = {name: given.pop(name) for name in list(given) if _is_link(name, given[name], fields)}
    if url:
        links["url"] = url
    for name, link in links.items():
        try:
            named = urls.fields_of(link, defaults.base_url)
        except urls.NotOurs as foreign:
            raise CallFailed(not_ours(str(foreign), defaults.base_url)) from None
        except ValueError:
            problems.wrong(name, "a URL of a project, a group or something in one", "string")
            continue
        useful = {key: value for key, value in named.items() if key in fields}
        if not useful:
            problems.wrong(name, "a URL that names " + " or ".join(_ids(fields)), "a URL of something else")
        for key, value in useful.items():
            if key in given and str(given[key]) != value:
                problems.wrong(key, "what the URL names, or no URL", "another value than the URL's")
            given.setdefault(key, value)
    if defaults.project and "project_id" in fields and "project_id" not in given:
        ways = action.alternatives()
        others = frozenset().union(*ways) & {"group_id", "user_id", "username"}
        fits = any(way <= set(given) for way in ways)
        if not fits and not others & set(given):
            given["project_id"] = defaults.project


def _is_link(name: str, value: Any, fields: Mapping[str, Shape]) -> bool:
    is_id = name.endswith(("_id", "_iid")) and name in fields
    return is_id and isinstance(value, str) and value.strip().startswith(("http://", "https://"))


def _ids(fields: Mapping[str, Shape]) -> list[str]:
    return [name for name in fields if name.endswith(("_id", "_iid"))] or ["what the action needs"]


def not_ours(host: str, base_url: str) -> Failure:
    return Failure(
        Code.HOST_NOT_ALLOWED, "The URL belongs to another host than the GitLab this server talks to."
    ).knowing(
        host=safe_to_repeat(host),
        gitlab=base_url,
        suggested_fix="Give a URL of this GitLab, or ids instead.",
    )

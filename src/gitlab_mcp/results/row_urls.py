"""The addresses of a list's rows as one template on top, such as `https://gitlab.example.com/a/b/-/issues/{iid}`.

An address in every row is a third of the tokens of a list, and says little that the row does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gitlab_mcp.results.secret_redaction import redact_json

_ENDS_WITH = ("iid", "id", "path_with_namespace", "full_path", "username", "tag_name", "name", "slug")
"""The members of a row that its address may end with."""


def with_url_template(items: list[Any]) -> tuple[str | None, list[Any]]:
    """The template that most rows follow, and the rows: those that follow it lose their `web_url`."""
    if not any(isinstance(item, (dict, Mapping)) and "web_url" in item for item in items):
        return None, items
    fitting = Counter(template for item in items for template in set(_templates(item)))
    if not fitting:
        return None, items
    most = max(fitting.values())
    template = min((each for each, count in fitting.items() if count == most), key=_rank)
    return template, [_without_url(item) if template in _templates(item) else item for item in items]


def add_project(row: Mapping[str, Any], of: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the path of its project, as far as GitLab's own answer `of` says it."""
    references = redact_json(of.get("references"))
    if "project" in row or not isinstance(references, Mapping):
        return dict(row)
    project = str(references.get("full", "")).removesuffix(str(references.get("short", "")))
    return {**row, "project": project} if project else dict(row)


def _templates(item: Any) -> Iterator[str]:
    """Each template from which this row makes its address."""
    url = item.get("web_url") if isinstance(item, Mapping) else None
    if not isinstance(url, str):
        return
    project = item.get("project")
    for name in _ENDS_WITH:
        value = item.get(name)
        if isinstance(value, (str, int)) and (start := _before(url, str(value))) is not None:
            yield f"{start}{{{name}}}"
            if isinstance(project, str) and f"/{project}/-/" in start:
                yield f"{start.replace(f'/{project}/-/', '/{project}/-/')}{{{name}}}"


def _before(url: str, value: str) -> str | None:
    # GitLab writes a branch `a/b` with its slash.
    for ending in (value, quote(value)):
        if value and url.endswith(f"/{ending}"):
            return url[: -len(ending)]
    return None


def _rank(template: str) -> tuple[bool, int]:
    """Of templates that fit equally many rows: rather one project than any, rather the number people use."""
    name = template.rpartition("{")[2].rstrip("}")
    return "{project}" in template, _ENDS_WITH.index(name)


def _without_url(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "web_url"}

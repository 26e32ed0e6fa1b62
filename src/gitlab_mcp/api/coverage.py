"""How much of GitLab's API can be called here, by the page of the documentation that names it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gitlab_mcp.api.operations import Operation, operations

WITHOUT_A_PAGE = "not documented"


@dataclass(frozen=True, slots=True)
class Coverage:
    counts: Counter[str]
    """`curated`, `data` and `excluded`."""
    pages: dict[str, Counter[str]]
    groups: dict[str, str]
    """Of what is excluded: the group, and why."""
    in_group: Counter[str]
    excluded: tuple[Operation, ...] = field(repr=False, default=())

    @property
    def reached(self) -> int:
        return self.counts["curated"] + self.counts["data"]

    def as_json(self) -> dict[str, Any]:
        return {
            "operations": sum(self.counts.values()),
            "reached": self.reached,
            "curated": self.counts["curated"],
            "by_data": self.counts["data"],
            "excluded": self.counts["excluded"],
            "excluded_groups": {
                name: {"operations": self.in_group[name], "because": because}
                for name, because in sorted(self.groups.items())
            },
            "pages": {page: dict(counts) for page, counts in sorted(self.pages.items())},
            "excluded_operations": {each.endpoint: each.group for each in self.excluded},
        }


def coverage(curated: Iterable[str]) -> Coverage:
    """`curated`: the endpoints that actions of tools call."""
    known = list(operations(curated))
    excluded = [each for each in known if each.reached_by == "excluded"]
    pages: dict[str, Counter[str]] = {}
    for each in known:
        pages.setdefault(each.page or WITHOUT_A_PAGE, Counter())[each.reached_by] += 1
    return Coverage(
        Counter(each.reached_by for each in known),
        pages,
        {each.group: each.reason for each in excluded},
        Counter(each.group for each in excluded),
        tuple(excluded),
    )

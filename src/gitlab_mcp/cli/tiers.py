"""`gitlab-mcp tiers`: shows the feature map, or holds it against a live GitLab."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import anyio

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.terminal import (
    ProgressBar,
    colored,
    printable,
    show_failure,
    table,
    write_json,
    write_line,
)
from gitlab_mcp.cli.usage_error import UsageError
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings import Settings, load
from gitlab_mcp.tiers.feature_map import Feature, TierMap
from gitlab_mcp.tiers.live_check import BY_GRAPHQL, NOT_ASKED, Checked, NoSuchPlace, Verdict

_COLOR: Final = {Verdict.CONFIRMED: "green", Verdict.CONTRADICTED: "red", Verdict.NOT_ASKABLE: "dim"}


def show_map(tiers: TierMap, *, as_json: bool) -> int:
    features = sorted(tiers.features.values(), key=lambda feature: feature.key)
    if as_json:
        write_json([_described(feature) for feature in features])
        return exit_codes.OK
    rows = [
        [feature.key, feature.name, feature.tier, _earlier(feature), ", ".join(_measured(feature))]
        for feature in features
    ]
    write_line(table(rows, ["FEATURE", "NAME", "TIER", "EARLIER", "MEASURED"]))
    return exit_codes.OK


def _described(feature: Feature) -> dict[str, Any]:
    return {
        "feature": feature.key,
        "name": feature.name,
        "tier": feature.tier,
        "earlier": [{"before": _dotted(was.before), "tier": was.tier} for was in feature.earlier],
        "measured": _measured(feature),
        "docs": feature.docs,
    }


def _measured(feature: Feature) -> list[str]:
    """The versions of a running GitLab that were asked what they do without it."""
    bases = [each.basis for behaviours in feature.without_it.values() for each in behaviours]
    words = {word for basis in bases if basis.startswith("measured") for word in basis.split()[1:]}
    return sorted(words - {"and"})


def _earlier(feature: Feature) -> str:
    return ", ".join(f"{was.tier} before {_dotted(was.before)}" for was in feature.earlier)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@dataclass(frozen=True, slots=True)
class _Outcome:
    checked: Checked
    failure: Failure | None
    """Why the check stopped early, explained."""
    cassette: str


def show_check(flags: Mapping[str, Any], tiers: TierMap, group: str | None, *, as_json: bool) -> int:
    settings = load(flags)
    # Written here, without what was read: not by the recorder, which keeps that.
    record = settings.record
    try:
        outcome = anyio.run(_check, replace(settings, record=None), tiers, group)
    except NoSuchPlace as missing:
        fix = f"Name one that it can read with --{missing.kind}, or leave it out: then one of yours is taken."
        raise UsageError(f"This token is shown no such {missing.kind}.", fix) from None
    if record is not None:
        _write(Path(record), outcome.cassette)
    checked, failure = outcome.checked, outcome.failure
    if as_json:
        write_json(_as_json(checked, failure))
    else:
        _show(checked, record, no_color=settings.no_color)
    if failure is not None:
        code = exit_codes.for_failure(failure.code)
        return code if as_json else show_failure(failure, no_color=settings.no_color)
    return exit_codes.FAILED if checked.count(Verdict.CONTRADICTED) else exit_codes.OK


def _write(path: Path, cassette: str) -> None:
    try:
        path.write_text(cassette, encoding="utf-8")
    except OSError as problem:
        # What was found is still told.
        write_line(f"Nothing was recorded: {problem.strerror}.", sys.stderr)


async def _check(settings: Settings, tiers: TierMap, group: str | None) -> _Outcome:
    from gitlab_mcp.app import App
    from gitlab_mcp.gitlab.instance import AnswerCache, CachedLookups
    from gitlab_mcp.recording.contribution import Noting
    from gitlab_mcp.refusals.translate import translate
    from gitlab_mcp.tiers.live_check import check_map

    app, progress = App(replace(settings, toolsets=("all",))), ProgressBar(sys.stderr)
    try:
        gitlab = Noting(app.gitlab(progress), settings.deadline)
        ask = CachedLookups(gitlab, AnswerCache(), tier=settings.tier)
        checked = await check_map(tiers.features.values(), gitlab, ask, project=settings.project, group=group)
        problem = checked.stopped_by
        failure = await translate(problem, None, ask, lambda: tiers) if problem else None
        return _Outcome(checked, failure, gitlab.contribution())
    finally:
        progress.clear()
        app.close()


def _as_json(checked: Checked, failure: Failure | None) -> dict[str, Any]:
    instance = checked.instance
    return {
        "version": instance.version,
        "edition": instance.edition,
        "gitlab_com": instance.is_gitlab_com,
        "tier": checked.tier,
        "projects": checked.places.get("project", ()),
        "groups": checked.places.get("group", ()),
        "counts": {verdict.value: checked.count(verdict) for verdict in Verdict},
        "stopped": {"code": failure.code, "message": failure.message} if failure else None,
        "features": [
            {
                "feature": finding.feature.key,
                "tier": finding.feature.tier_in(instance.version),
                "verdict": finding.verdict.value,
                "reason": finding.reason,
                "asked": finding.asked,
                "at": finding.at,
                "status": finding.status,
            }
            for finding in checked.findings
        ],
    }


def _show(checked: Checked, record: Path | None, *, no_color: bool) -> None:
    instance = checked.instance
    rows = [
        [each.verdict.value, each.feature.key, each.feature.tier_in(instance.version), printable(each.reason)]
        for each in sorted(checked.findings, key=lambda each: list(Verdict).index(each.verdict))
        if each.reason != NOT_ASKED
    ]
    if rows:
        _show_rows(rows, no_color=no_color)
    places = "".join(f", {kind} {printable(', '.join(paths))}" for kind, paths in checked.places.items())
    edition = {"CE": "Community Edition", "EE": "Enterprise Edition"}.get(
        instance.edition or "", "edition unknown"
    )
    tier = checked.tier or "tier unknown"
    write_line(f"\nGitLab {instance.version or 'of an unknown version'}, {edition}, {tier}{places}")
    counts = ", ".join(f"{sum(row[0] == verdict for row in rows)} {verdict.value}" for verdict in Verdict)
    left = len(checked.findings) - len(rows)
    write_line(f"{counts}, of {len(checked.findings)} features" + (f"; {left} not asked" if left else ""))
    if by_plan := sum(each.asked == BY_GRAPHQL for each in checked.findings):
        write_line(
            f"{by_plan} of them by what GitLab says of its plans: the tier is told, not what happens without it"
        )
    if record is not None and record.exists():
        write_line(f"Written to {record}: read it, then send it in (docs/guides/tiers.md says where).")


def _show_rows(rows: list[list[str]], *, no_color: bool) -> None:
    head, *lines = table(rows, ["VERDICT", "FEATURE", "TIER", "REASON"]).splitlines()
    write_line(head)
    for (verdict, *_), line in zip(rows, lines, strict=True):
        write_line(colored(line, _COLOR[Verdict(verdict)], sys.stdout, no_color=no_color))

"""The operator's own file of tier facts, from the setting to what an agent is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitlab_mcp.app import App
from gitlab_mcp.failures.failure import CallFailed
from gitlab_mcp.settings import SettingsError
from tests.support.recordings import rows
from tests.support.standin import StandIn

Against = Callable[..., App]


def written(directory: Path, text: str) -> Path:
    file = directory / "ours.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.anyio
async def test_a_correction_of_the_operator_is_what_an_agent_hears(
    standin: StandIn, against: Against, tmp_path: Path
) -> None:
    standin.play_rows(row for row in rows("tiers_ee") if row["label"] == "epics/list")
    standin.play_rows(rows("context_ee"))
    file = written(tmp_path, "epics: {name: Big plans, tier: Ultimate}\n")
    [row] = [row for row in rows("tiers_ee") if row["label"] == "epics/list"]
    group = row["path"].split("/")[4]
    with pytest.raises(CallFailed) as refused:
        await against(tier="free", tier_features=file).call(
            "browse_epics", {"action": "list", "group_id": group}
        )
    facts = refused.value.failure.facts
    assert refused.value.failure.code == "TIER_RESTRICTED"
    assert (facts["feature_name"], facts["tier_required"]) == ("Big plans", "Ultimate")
    assert facts["alternatives"], "what was not corrected stays"


def test_a_slip_in_the_file_stops_the_server_before_anybody_calls(against: Against, tmp_path: Path) -> None:
    file = written(tmp_path, "epics: {teir: Ultimate}\n")
    with pytest.raises(SettingsError) as refused:
        against(tier_features=file)
    failure = refused.value.failure
    assert failure.code == "CONFIGURATION_ERROR"
    assert "ours.yaml" in failure.facts["suggested_fix"]
    assert "teir" in failure.facts["suggested_fix"]


@pytest.mark.anyio
async def test_what_is_not_listed_is_offered_with_what_calls_it(standin: StandIn, against: Against) -> None:
    standin.play_rows(row for row in rows("tiers_ee") if row["label"] == "epics/list")
    standin.play_rows(rows("context_ee"))
    [row] = [row for row in rows("tiers_ee") if row["label"] == "epics/list"]
    arguments = {"action": "list", "group_id": row["path"].split("/")[4]}
    with pytest.raises(CallFailed) as refused:
        await against(tier="free", toolsets=("core",)).call("browse_epics", arguments)
    offered = {each["action"]: each.get("call_with") for each in refused.value.failure.facts["alternatives"]}
    assert offered["browse_issues list"] is None
    assert offered["browse_milestones list"] == "browse_action"

"""Features that the tier lacks, which GitLab accepts and does not carry out."""

from __future__ import annotations

from collections.abc import AsyncIterator

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.success import Success
from gitlab_mcp.tiers.feature_map import SILENT_EFFECTS, Feature
from gitlab_mcp.tiers.notices import TierNotices


async def features_above_tier(success: Success) -> AsyncIterator[Notice]:
    """About the action as a whole, and about filters of a list. `unsaved_fields.py` checks the fields of a write."""
    for requirement in success.requirements:
        if requirement.field is None:
            notice = await _action(success, requirement.feature)
        elif not success.writes:
            notice = await _filter(success, requirement.feature, requirement.field)
        else:
            notice = None
        if notice:
            yield notice


async def _action(success: Success, feature: Feature) -> Notice | None:
    if not success.is_empty_list and not feature.some_edition_has_effect(*SILENT_EFFECTS):
        return None
    effective_tier = await success.effective_tier()
    if not effective_tier.lacks(feature):
        return None
    expected = effective_tier.expected_without(feature)
    notices = TierNotices(feature, effective_tier, success.given)
    # A list of what can be kept without the feature is empty for another reason.
    if success.is_empty_list and not expected.may_be("works", "not_enforced"):
        return notices.empty_list()
    expected = expected.after_success()
    if expected.is_surely("empty") and success.holds_nothing:
        return notices.empty_list()
    if expected.may_be("not_enforced") and success.method != "DELETE":
        return notices.not_enforced(surely=expected.is_surely("not_enforced"))
    return notices.ignored() if expected.is_surely("dropped") and success.writes else None


async def _filter(success: Success, feature: Feature, field: str) -> Notice | None:
    effective_tier = await success.effective_tier()
    if not effective_tier.lacks(feature):
        return None
    notices = TierNotices(feature, effective_tier, success.given, field)
    match feature.effect_as_filter(effective_tier.edition_key, effective_tier.instance.version):
        case "dropped":
            return notices.filter_ignored()
        case "empty" if success.is_empty_list:
            return notices.empty_list()
        case _:
            return None

"""Fields that were sent with a write and are not in the answer as they were sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.success_checks.field_outcome import FieldOutcome, field_outcome, is_always_shown
from gitlab_mcp.success_checks.not_applied_notice import not_applied
from gitlab_mcp.success_checks.success import Success
from gitlab_mcp.tiers.feature_map import SEVERAL_ENTRIES, Feature
from gitlab_mcp.tiers.notices import TierNotices


async def unsaved_fields(success: Success) -> AsyncIterator[Notice]:
    body = success.body
    if not success.writes or not isinstance(body, Mapping):
        return
    features = {each.field: each.feature for each in success.requirements}
    for name, sent_name, value in success.sent:
        outcome = field_outcome(sent_name, value, body)
        if name in features:
            if notice := await _field_with_feature(success, features[name], name, sent_name, outcome):
                yield notice
        elif outcome in (FieldOutcome.NOT_SAVED, FieldOutcome.PARTLY_SAVED):
            action_feature = features.get(None)
            by_tier = await _field_of_paid_action(success, action_feature, name) if action_feature else None
            yield by_tier or _not_saved(name)


async def _field_with_feature(
    success: Success, feature: Feature, name: str, sent_name: str, outcome: FieldOutcome
) -> Notice | None:
    if outcome is FieldOutcome.NOT_SAVED and feature.only.get(name) == SEVERAL_ENTRIES:
        # A tier that is too low still saves one entry of the list; here not even one was.
        return _not_saved(name)
    if outcome is FieldOutcome.SAVED and not feature.some_edition_has_effect("not_enforced"):
        return None
    effective_tier = await success.effective_tier()
    lacks, expected = effective_tier.lacks(feature), effective_tier.expected_without(feature).after_success()
    notices = TierNotices(feature, effective_tier, success.given, name)
    if outcome in (FieldOutcome.SAVED, FieldOutcome.NOT_SHOWN) and expected.may_be("not_enforced"):
        return notices.not_enforced(surely=expected.is_surely("not_enforced")) if lacks else None
    if outcome is FieldOutcome.SAVED:
        return None
    if lacks is False or expected.is_surely("works"):
        return None if outcome is FieldOutcome.NOT_SHOWN else _not_saved(name)
    if lacks is None and outcome is FieldOutcome.NOT_SHOWN and not is_always_shown(sent_name):
        return None
    return notices.ignored()


async def _field_of_paid_action(success: Success, feature: Feature, name: str) -> Notice | None:
    effective_tier = await success.effective_tier()
    # What works without the tier here cannot be what dropped the field.
    if not effective_tier.lacks(feature) or effective_tier.expected_without(feature).is_surely("works"):
        return None
    return TierNotices(feature, effective_tier, success.given, name).ignored()


def _not_saved(field: str) -> Notice:
    message = f"GitLab said yes and did not keep {field} as it was sent: unknown here, or not for this role."
    return not_applied(message, field=field)

"""Fields that were sent with a write and are not in what came back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from gitlab_mcp.actions.result import Notice
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.success_checks.comparison import Fate, fate, is_told
from gitlab_mcp.success_checks.success import Success
from gitlab_mcp.tiers.feature_map import SEVERAL, Feature
from gitlab_mcp.tiers.notices import UnmetRequirement


async def dropped(success: Success) -> AsyncIterator[Notice]:
    body = success.body
    if not success.writes or not isinstance(body, Mapping):
        return
    paid = {each.field: each.feature for each in success.requirements}
    for ours, theirs, value in success.sent:
        became = fate(theirs, value, body)
        if ours in paid:
            if warning := await _paid(success, paid[ours], ours, theirs, became):
                yield warning
        elif became in (Fate.CHANGED, Fate.PARTLY):
            yield await _unpaid(success, paid.get(None), ours) or _not_applied(ours)


async def _paid(success: Success, feature: Feature, ours: str, theirs: str, became: Fate) -> Notice | None:
    if became is Fate.CHANGED and feature.only.get(ours) == SEVERAL:
        # Nobody at all was kept: that is not for want of a tier.
        return _not_applied(ours)
    if became is Fate.KEPT and not feature.is_ever("not_enforced"):
        return None
    effective_tier = await success.effective_tier()
    lacks, usual = effective_tier.lacks(feature), effective_tier.without(feature)
    effect = usual.effect if usual else None
    unpaid = UnmetRequirement(feature, effective_tier, success.given, ours)
    if became in (Fate.KEPT, Fate.UNSEEN) and effect == "not_enforced":
        return unpaid.not_enforced() if lacks else None
    if became is Fate.KEPT:
        return None
    if lacks is False or effect == "works":
        return None if became is Fate.UNSEEN else _not_applied(ours)
    if lacks is None and became is Fate.UNSEEN and not is_told(theirs):
        return None
    return unpaid.ignored()


async def _unpaid(success: Success, whole: Feature | None, ours: str) -> Notice | None:
    """A field of an action that is paid as a whole."""
    if whole is None:
        return None
    effective_tier = await success.effective_tier()
    return (
        UnmetRequirement(whole, effective_tier, success.given, ours).ignored()
        if effective_tier.lacks(whole)
        else None
    )


def _not_applied(field: str) -> Notice:
    message = f"GitLab said yes and did not keep {field} as it was sent: unknown here, or not for this role."
    return Notice(NoticeCode.NOT_APPLIED, message, {"field": field})

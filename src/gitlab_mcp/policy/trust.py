"""How dangerous an action may be: the limit of the operator (`--trust`), of a personal rule, of a request
(`X-MCP-Trust`)."""

from __future__ import annotations

from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.policy.danger import exceeds
from gitlab_mcp.policy.guard import Guard, ProposedCall


def refuse_above_trust(trust: Danger | None) -> Guard:
    """For the operator's limit. None: what is dangerous is left to the person, where the client can ask."""
    limit = trust or Danger.DESTRUCTIVE

    async def guard(proposed: ProposedCall) -> None:
        danger = proposed.call.danger
        if not exceeds(danger, limit) or (trust is None and proposed.consent.can_ask):
            return
        other_way = "" if trust else ", or the person use a client that can ask them (MCP elicitation)"
        raise CallFailed(
            _refusal(Code.TRUST_INSUFFICIENT, proposed, limit).knowing(
                setting="trust",
                suggested_fix=f"Do not try again. Tell the person what you wanted to do: the operator would have "
                f"to start the server with --trust {danger}{other_way}.",
            )
        )

    return guard


def refuse_above_trust_of_rule(trust: Danger) -> Guard:
    async def guard(proposed: ProposedCall) -> None:
        if exceeds(proposed.call.danger, trust):
            raise CallFailed(_refusal(Code.TRUST_INSUFFICIENT, proposed, trust))

    return guard


def refuse_above_requested_trust(trust: Danger) -> Guard:
    """For the limit that a request sets itself."""

    async def guard(proposed: ProposedCall) -> None:
        if exceeds(proposed.call.danger, trust):
            raise CallFailed(
                _refusal(Code.DANGER_DENIED, proposed, trust).knowing(
                    suggested_fix="Do not try again; the client that sent the request limits how dangerous it may be."
                )
            )

    return guard


def _refusal(code: Code, proposed: ProposedCall, trust: Danger) -> Failure:
    name, danger = proposed.call.action.spec.name, proposed.call.danger
    with_ = [f"{field} {risk.values}" for field, risk in proposed.call.action.risks().items()]
    with_ += ["quick_actions"] if proposed.call.options.quick_actions else []
    what = f"{name} with {', '.join(with_)}" if with_ else name
    return Failure(code, f"{what} is {danger}, and callers may do at most what is {trust} here.").knowing(
        danger=str(danger),
        trust_held=str(trust),
        trust_required=str(danger),
        confidence="certain",
        retryable=False,
    )

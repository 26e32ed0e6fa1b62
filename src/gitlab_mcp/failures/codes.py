"""Every code a failure can have, as data: what it means, what to do next, what other vocabularies call it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Code(StrEnum):
    """The code of a failure."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ACTION = "INVALID_ACTION"
    MISSING_REQUIRED_FIELD = "MISSING_REQUIRED_FIELD"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    INVALID_VALUE = "INVALID_VALUE"
    FIELD_NOT_ALLOWED = "FIELD_NOT_ALLOWED"
    INVALID_ENCODING = "INVALID_ENCODING"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    READ_ONLY_MODE = "READ_ONLY_MODE"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    DANGER_DENIED = "DANGER_DENIED"
    TRUST_INSUFFICIENT = "TRUST_INSUFFICIENT"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    CONFIRMATION_INVALID = "CONFIRMATION_INVALID"
    CONFIRMATION_EXPIRED = "CONFIRMATION_EXPIRED"
    CONFIRMATION_USED = "CONFIRMATION_USED"
    CONFIRMATION_MISMATCH = "CONFIRMATION_MISMATCH"
    QUOTA_PAUSED = "QUOTA_PAUSED"
    QUOTA_EXHAUSTED = "QUOTA_EXHAUSTED"
    AUTHENTICATION_FAILED = "AUTHENTICATION_FAILED"
    SCOPE_INSUFFICIENT = "SCOPE_INSUFFICIENT"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TIER_RESTRICTED = "TIER_RESTRICTED"
    FEATURE_UNAVAILABLE = "FEATURE_UNAVAILABLE"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    REJECTED = "REJECTED"
    RATE_LIMITED = "RATE_LIMITED"
    SERVER_ERROR = "SERVER_ERROR"
    NETWORK_ERROR = "NETWORK_ERROR"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    BAD_RESPONSE = "BAD_RESPONSE"
    API_ERROR = "API_ERROR"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    UPSTREAM_PAUSED = "UPSTREAM_PAUSED"
    BUSY = "BUSY"
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED"
    REPLAY_MISS = "REPLAY_MISS"
    CONFIGURATION_ERROR = "CONFIGURATION_ERROR"
    BATCH_PARTIAL_FAILURE = "BATCH_PARTIAL_FAILURE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class NoticeCode(StrEnum):
    """The code of a warning that goes with a success."""

    TIER_IGNORED = "TIER_IGNORED"
    TIER_NOT_ENFORCED = "TIER_NOT_ENFORCED"
    NOT_APPLIED = "NOT_APPLIED"
    EMPTY_BECAUSE = "EMPTY_BECAUSE"
    QUOTA_WARNING = "QUOTA_WARNING"
    TRUNCATED = "TRUNCATED"
    NOT_GREEN = "NOT_GREEN"
    FALLBACK_USED = "FALLBACK_USED"
    PARTIAL = "PARTIAL"


class Recovery(StrEnum):
    """What makes the next call work. Each code has one."""

    FIX_ARGUMENTS = "fix arguments"
    LATER = "later"
    WITH_TOKEN = "with token"
    ASK_AGAIN = "ask again"
    CHECK_FIRST = "check first"
    PER_ITEM = "per item"
    NO = "no"


RETRYABLE: Final = frozenset(
    {
        Recovery.FIX_ARGUMENTS,
        Recovery.LATER,
        Recovery.WITH_TOKEN,
        Recovery.ASK_AGAIN,
        Recovery.PER_ITEM,
    }
)


@dataclass(frozen=True, slots=True)
class CodeEntry:
    name: Code
    title: str
    status: int
    """The HTTP status where GitLab gave none of its own."""
    recovery: Recovery
    cause: str
    """What happened, in one sentence."""
    agent: str
    """What the agent should do, in one sentence."""
    person: str
    """What the person behind it, or the operator, can do."""
    aql: str
    toolerror: str
    needs_input: bool = False
    """A value that the person supplies could make it work."""

    @property
    def retryable(self) -> bool:
        """Whether another call of this action can work without anybody else changing something."""
        return self.recovery in RETRYABLE

    @property
    def is_nobodys_mistake(self) -> bool:
        """Neither the caller's nor the operator's."""
        return self.status >= 500 and self.name not in (Code.BUSY, Code.CONFIGURATION_ERROR)

    @property
    def slug(self) -> str:
        return self.name.lower().replace("_", "-")


CODES: Final[Mapping[Code, CodeEntry]] = MappingProxyType({
    entry.name: entry
    for entry in (
        CodeEntry(Code.UNKNOWN_TOOL, "Unknown tool", 404, Recovery.FIX_ARGUMENTS,
             "The call names a tool that this server does not have or does not offer here.",
             "Call a tool that is listed.",
             "Check which toolsets the server was started with.",
             "NOT_FOUND_OPERATION", "CLIENT_ERROR"),
        CodeEntry(Code.INVALID_ACTION, "Unknown action", 404, Recovery.FIX_ARGUMENTS,
             "The tool has no action of that name.",
             "Choose one of valid_actions.",
             "Check the tool reference for the actions this tool has.",
             "NOT_FOUND_OPERATION", "CLIENT_ERROR", needs_input=True),
        CodeEntry(Code.MISSING_REQUIRED_FIELD, "Missing field", 400, Recovery.FIX_ARGUMENTS,
             "The action needs fields that were not given.",
             "Add missing_fields and call again.",
             "Give the values the action asks for.",
             "VALIDATION_MISSING_PARAM", "CLIENT_ERROR", needs_input=True),
        CodeEntry(Code.TYPE_MISMATCH, "Wrong type", 400, Recovery.FIX_ARGUMENTS,
             "A value is of another type than the field takes.",
             "Send each of invalid_fields in the form that is expected.",
             "Check the values that were given.",
             "VALIDATION_INVALID_TYPE", "CLIENT_ERROR"),
        CodeEntry(Code.INVALID_VALUE, "Value not accepted", 400, Recovery.FIX_ARGUMENTS,
             "A value is outside of what the field takes, or does not go together with another.",
             "Replace the value of each of invalid_fields by one that is expected.",
             "Check the values that were given.",
             "VALIDATION_INVALID_TYPE", "CLIENT_ERROR", needs_input=True),
        CodeEntry(Code.FIELD_NOT_ALLOWED, "Field not allowed", 400, Recovery.FIX_ARGUMENTS,
             "The action has no field of that name.",
             "Use the name in did_you_mean, or one of allowed_fields.",
             "Check the tool reference for the fields this action has.",
             "VALIDATION_UNKNOWN_PARAM", "CLIENT_ERROR"),
        CodeEntry(Code.INVALID_ENCODING, "Text not encodable", 400, Recovery.FIX_ARGUMENTS,
             "The text holds a NUL, half a surrogate pair, or bytes that are no UTF-8.",
             "Send the text without NUL characters and lone surrogates.",
             "Check where the text came from.",
             "VALIDATION_INVALID_ENCODING", "CLIENT_ERROR"),
        CodeEntry(Code.PAYLOAD_TOO_LARGE, "Too large", 413, Recovery.FIX_ARGUMENTS,
             "The arguments, or GitLab's answer, are larger than what is taken.",
             "Send or ask for less at a time.",
             "The operator can raise the limit that was hit.",
             "VALIDATION_PAYLOAD_TOO_LARGE", "CLIENT_ERROR"),
        CodeEntry(Code.READ_ONLY_MODE, "Read-only mode", 403, Recovery.NO,
             "The operator lets this server read only, and the action writes.",
             "Use actions that read; this server does not write.",
             "The operator can start the server without read-only mode.",
             "PERMISSION_DENIED", "CLIENT_ERROR"),
        CodeEntry(Code.OUT_OF_SCOPE, "Outside the allowed projects", 403, Recovery.NO,
             "The operator, or the request itself, keeps calls to other projects, groups, actions or toolsets.",
             "Stay within the projects and groups the operator allowed.",
             "The operator can allow the project or group.",
             "PERMISSION_DENIED", "CLIENT_ERROR"),
        CodeEntry(Code.DANGER_DENIED, "Too dangerous", 403, Recovery.NO,
             "The request limits itself to less dangerous actions.",
             "Do not try again; tell the person what you wanted to do.",
             "The operator can allow actions of this danger.",
             "PERMISSION_DANGER_LEVEL_DENIED", "CLIENT_ERROR"),
        CodeEntry(Code.TRUST_INSUFFICIENT, "Trust too low", 403, Recovery.NO,
             "The operator trusts callers with less dangerous actions only.",
             "Do not try again; tell the person what you wanted to do.",
             "The operator can give this caller more trust.",
             "PERMISSION_TRUST_LEVEL_INSUFFICIENT", "CLIENT_ERROR"),
        CodeEntry(Code.CONFIRMATION_REQUIRED, "Confirmation required", 403, Recovery.WITH_TOKEN,
             "The action destroys something, and no person has said yes to it.",
             "Show the person what will happen; after a yes, send the same call with confirmation_token.",
             "Say yes or no to what is about to happen.",
             "CONFIRMATION_REQUIRED", "CLIENT_ERROR", needs_input=True),
        CodeEntry(Code.CONFIRMATION_INVALID, "Confirmation not known", 403, Recovery.ASK_AGAIN,
             "This server never gave out the confirmation token, or has forgotten it.",
             "Send the call without a token to get a new one.",
             "Confirm again.",
             "TOKEN_INVALID", "CLIENT_ERROR"),
        CodeEntry(Code.CONFIRMATION_EXPIRED, "Confirmation expired", 403, Recovery.ASK_AGAIN,
             "The yes came too late.",
             "Send the call without a token to get a new one.",
             "Confirm again, sooner.",
             "TOKEN_EXPIRED", "CLIENT_ERROR"),
        CodeEntry(Code.CONFIRMATION_USED, "Confirmation used already", 403, Recovery.ASK_AGAIN,
             "The token was good for one call, and that call was made.",
             "Check whether the call already took effect before you ask for a new token.",
             "Check whether it already happened, then confirm again.",
             "TOKEN_ALREADY_USED", "CLIENT_ERROR"),
        CodeEntry(Code.CONFIRMATION_MISMATCH, "Confirmation for another call", 403, Recovery.ASK_AGAIN,
             "The token was given for a call with another action, other arguments or another caller.",
             "Send exactly the call that was confirmed, or ask for a token for this one.",
             "Confirm this call, not the earlier one.",
             "TOKEN_SCOPE_MISMATCH", "CLIENT_ERROR"),
        CodeEntry(Code.QUOTA_PAUSED, "Paused by the quota", 429, Recovery.WITH_TOKEN,
             "So many writes were made that the operator wants a person to look.",
             "Ask the person whether to go on; after a yes, send the call with confirmation_token.",
             "Say whether the work may go on.",
             "RATE_LIMIT_QUOTA_PAUSE", "CLIENT_ERROR", needs_input=True),
        CodeEntry(Code.QUOTA_EXHAUSTED, "Quota used up", 429, Recovery.LATER,
             "The number of writes that the operator allows is used up.",
             "Stop until the quota is renewed.",
             "The operator can raise the quota.",
             "RATE_LIMIT_QUOTA_EXHAUSTED", "CLIENT_ERROR"),
        CodeEntry(Code.AUTHENTICATION_FAILED, "Token not accepted", 401, Recovery.NO,
             "GitLab does not accept the token: missing, unknown, expired, revoked, or its user is blocked.",
             "Do not try again with this token; tell the person.",
             "Create a new token in GitLab and give it to the server.",
             "PERMISSION_DENIED", "AUTHENTICATION_ERROR"),
        CodeEntry(Code.SCOPE_INSUFFICIENT, "Token scope too narrow", 403, Recovery.NO,
             "The token is good, but its scopes do not reach this far.",
             "Do not try again with this token; tell the person which scope is needed.",
             "Create a token with the scope that is needed.",
             "PERMISSION_DENIED", "AUTHENTICATION_ERROR"),
        CodeEntry(Code.PERMISSION_DENIED, "Not permitted", 403, Recovery.NO,
             "The user's role is too low. GitLab also answers 401 and 404 to that.",
             "Do not try again; tell the person which role is needed.",
             "Ask a maintainer or owner for the role that is needed.",
             "PERMISSION_DENIED", "AUTHENTICATION_ERROR"),
        CodeEntry(Code.TIER_RESTRICTED, "Needs a higher tier", 403, Recovery.NO,
             "The subscription of this GitLab does not have the feature.",
             "Use one of the alternatives.",
             "Upgrade the subscription, or work with the alternatives.",
             "PERMISSION_DENIED", "AUTHENTICATION_ERROR"),
        CodeEntry(Code.FEATURE_UNAVAILABLE, "Not available here", 403, Recovery.NO,
             "The feature is switched off here, or this edition or version does not have it.",
             "Do not try again until somebody switched it on.",
             "Switch the feature on, or use a GitLab that has it.",
             "PERMISSION_DENIED", "CLIENT_ERROR"),
        CodeEntry(Code.NOT_FOUND, "Not found", 404, Recovery.FIX_ARGUMENTS,
             "It does not exist, or the user may not see it: GitLab does not tell which.",
             "Look the thing up with the matching list action and use what it returns.",
             "Check the name or number, and whether the token's user may see it.",
             "NOT_FOUND_RESOURCE", "NOT_FOUND"),
        CodeEntry(Code.CONFLICT, "In the way of the present state", 409, Recovery.FIX_ARGUMENTS,
             "What is there already stands in the way: it exists, it changed, it is in the wrong state.",
             "Read the present state, then decide whether the change is still wanted.",
             "Look at what is there already.",
             "CONFLICT_ALREADY_EXISTS", "CLIENT_ERROR"),
        CodeEntry(Code.REJECTED, "GitLab did not accept the values", 422, Recovery.FIX_ARGUMENTS,
             "GitLab looked at the values and did not accept them.",
             "Change the fields that GitLab names.",
             "Check the values that were given.",
             "VALIDATION_INVALID_TYPE", "CLIENT_ERROR"),
        CodeEntry(Code.RATE_LIMITED, "Too many requests", 429, Recovery.LATER,
             "GitLab takes no more requests of this kind for a while.",
             "Wait for retry_after_seconds, or a minute where it is not given, then call again.",
             "Ask the GitLab administrator about the rate limits.",
             "RATE_LIMIT_EXCEEDED", "CLIENT_ERROR"),
        CodeEntry(Code.SERVER_ERROR, "GitLab failed", 502, Recovery.LATER,
             "GitLab failed. Unusual arguments are the reason more often than not.",
             "Try once more later; if it fails again, check the arguments.",
             "Give the event_id to whoever runs GitLab.",
             "INTERNAL_ERROR", "SERVER_ERROR"),
        CodeEntry(Code.NETWORK_ERROR, "GitLab not reachable", 504, Recovery.LATER,
             "GitLab was not reached: name, connection, certificate, proxy or time.",
             "Try again later.",
             "Check the URL, the network and the certificate settings.",
             "INTERNAL_ERROR", "NETWORK_ERROR"),
        CodeEntry(Code.OUTCOME_UNKNOWN, "Answer lost", 504, Recovery.CHECK_FIRST,
             "A write was sent and its answer was lost, and looking for its effect settled nothing.",
             "Do not send it again before check_with showed that it did not happen.",
             "Look in GitLab whether the change is there.",
             "INTERNAL_ERROR", "NETWORK_ERROR"),
        CodeEntry(Code.BAD_RESPONSE, "Not an answer of GitLab", 502, Recovery.LATER,
             "What came back is not from GitLab's API: a login page, a proxy's page, half a document.",
             "Try once more later; if it stays so, tell the person.",
             "Check the GitLab URL and what stands between: proxy, login page, gateway.",
             "INTERNAL_ERROR", "SERVER_ERROR"),
        CodeEntry(Code.API_ERROR, "GitLab refused", 400, Recovery.NO,
             "GitLab refused in a way that has no code of its own.",
             "Read gitlab_message and the documentation before anything else.",
             "Read the documentation of the endpoint.",
             "VALIDATION_INVALID_TYPE", "CLIENT_ERROR"),
        CodeEntry(Code.STORE_UNAVAILABLE, "Nothing can be remembered", 503, Recovery.LATER,
             "What must be remembered cannot be: the store does not answer or is full, or the audit takes no lines.",
             "Try again later.",
             "The operator should check the store and the audit log the server was given.",
             "INTERNAL_ERROR", "SERVER_ERROR"),
        CodeEntry(Code.UPSTREAM_PAUSED, "GitLab is given a rest", 503, Recovery.LATER,
             "GitLab failed so often that it is not asked for a while.",
             "Wait for retry_after_seconds, then call again.",
             "GitLab failed several times in a row; look at its health.",
             "INTERNAL_ERROR", "SERVER_ERROR"),
        CodeEntry(Code.BUSY, "Too many calls at once", 503, Recovery.LATER,
             "This server, this caller or this address has more under way than the operator allows.",
             "Wait for retry_after_seconds, or until some of the calls under way have ended.",
             "The operator can allow more calls at once.",
             "RATE_LIMIT_EXCEEDED", "SERVER_ERROR"),
        CodeEntry(Code.HOST_NOT_ALLOWED, "Host not allowed", 403, Recovery.NO,
             "The address is not one of the GitLab this server is for. Nothing was sent.",
             "Use only addresses of the configured GitLab.",
             "The operator can allow the host.",
             "PERMISSION_DENIED", "CLIENT_ERROR"),
        CodeEntry(Code.REPLAY_MISS, "No recording", 404, Recovery.NO,
             "The server plays recordings, and none answers this request.",
             "Ask only for what was recorded.",
             "Record the request, or run without replay.",
             "NOT_FOUND_RESOURCE", "NOT_FOUND"),
        CodeEntry(Code.CONFIGURATION_ERROR, "Server not set up", 500, Recovery.NO,
             "The server lacks a setting that it needs for every call.",
             "Do not try again; tell the person what is missing.",
             "Set what suggested_fix names and restart the server.",
             "INTERNAL_ERROR", "UNKNOWN_ERROR"),
        CodeEntry(Code.BATCH_PARTIAL_FAILURE, "Every item failed", 422, Recovery.PER_ITEM,
             "Every call of a batch failed. A batch of which some calls worked is a success with a warning.",
             "Look at each item's error, and send again what its advice says.",
             "Look at the items that failed.",
             "BATCH_PARTIAL_FAILURE", "CLIENT_ERROR"),
        CodeEntry(Code.INTERNAL_ERROR, "Bug in this server", 500, Recovery.NO,
             "Something in this server went wrong that nobody foresaw.",
             "Do not try again; tell the person the event_id.",
             "Report it with the event_id; the log has the details.",
             "INTERNAL_ERROR", "UNKNOWN_ERROR"),
    )
})  # fmt: skip


NOTICES: Final[Mapping[NoticeCode, str]] = MappingProxyType(
    {
        NoticeCode.TIER_IGNORED: "GitLab accepted the call and dropped a field that needs a higher tier.",
        NoticeCode.TIER_NOT_ENFORCED: "It was saved, but does nothing on this tier.",
        NoticeCode.NOT_APPLIED: "GitLab said yes and did not do it, or did not keep a value.",
        NoticeCode.EMPTY_BECAUSE: "The list is empty for a reason that is not the data.",
        NoticeCode.QUOTA_WARNING: "The operator's quota is nearly used up.",
        NoticeCode.TRUNCATED: "Something was left out to fit the budget.",
        NoticeCode.NOT_GREEN: "The newest pipeline of what it is about failed, or has not ended.",
        NoticeCode.FALLBACK_USED: "The first way did not work and another one was taken.",
        NoticeCode.PARTIAL: "Some of the requests behind this answer failed.",
    }
)

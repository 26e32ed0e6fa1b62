"""The reader of `endpoints.jsonl`: what is known of an endpoint, by version of GitLab. See the room's docstring."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from gitlab_mcp.api.switches import switch_of
from gitlab_mcp.api.versions import version_number

DATA: Final = "endpoints.jsonl"

_PLACEHOLDER: Final = re.compile(r"[:*](\w+)|\{(\w+)\}")
_OPTIONAL: Final = re.compile(r"(?<!\\)\([^)]*\)|\[[^\]]*\]|(?<=/)-/")


@lru_cache(maxsize=8192)
def normalised(endpoint: str) -> str:
    """One form of all spellings: `GET /groups/:id/(-/)search` and `GET /groups/{group_id}/search` are
    `GET /groups/*/search`. Also takes a path alone."""
    return _PLACEHOLDER.sub("*", _OPTIONAL.sub("", endpoint.partition("?")[0])).rstrip("/")


def placeholders(endpoint: str) -> tuple[str, ...]:
    """The names in a path: `id` and `issue_iid` of `GET /projects/:id/issues/{issue_iid}`."""
    return tuple(match[1] or match[2] for match in _PLACEHOLDER.finditer(endpoint))


@dataclass(frozen=True, slots=True)
class Parameter:
    type: str
    required: bool = False
    values: tuple[str, ...] = ()
    default: Any = None
    ee_only: bool = False


@dataclass(frozen=True, slots=True)
class Documented:
    """Where GitLab documents an endpoint."""

    page: str
    """Below https://docs.gitlab.com/, as `api/labels`."""
    section: str
    """The title above it, or nothing."""
    tier: str | None
    """The lowest tier according to the page. What this server believes is in tier_features.yaml."""
    endpoint: str
    """As that page spells it."""

    @property
    def anchor(self) -> str:
        """The address of the section on its page."""
        return re.sub(r"\s+", "-", re.sub(r"[^\w\- ]", "", self.section).strip().lower())

    @property
    def address(self) -> str:
        return f"{self.page}/#{self.anchor}" if self.section else f"{self.page}/"


NO_FINE_GRAINED: Final[Mapping[str, str]] = {
    "public_endpoint": "It needs no token.",
    "deprecated_endpoint": "It is deprecated.",
    "catch_all": "It is no endpoint.",
    "job_token_auth": "It takes the token of a CI/CD job alone.",
    "runner_token_auth": "It takes the token of a runner alone.",
    "trigger_token_auth": "It takes a trigger token or the token of a CI/CD job alone.",
    "scim_token_auth": "It takes a SCIM token alone.",
    "unleash_token_auth": "It takes the token of a feature flag client alone.",
    "ai_workflows_oauth_auth": "It takes a token of GitLab Duo alone.",
    "ai_workflows_token_auth": "It takes a token of GitLab Duo alone.",
    "integration_token_auth": "It takes the secret of the integration alone.",
    "slack_signature_auth": "It takes the secret of the integration alone.",
    "jira_forge_app_auth": "It takes the secret of the integration alone.",
    "compliance_external_auth": "It takes the secret of the external control alone.",
    "external_registry_redirect": "It may send the caller on to another registry.",
}
"""Why an endpoint takes no fine-grained token, by GitLab's word for it."""
AMONG_ITSELF: Final = "Parts of GitLab call it, with a secret of their own."
"""The reason in all other cases."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What an endpoint asks of tokens that are not those of a person with the scope api."""

    permissions: tuple[str, ...] = ()
    """Those that a fine-grained token must have, all of them, as a person picks them: `read_work_item`."""
    boundaries: tuple[str, ...] = ()
    """Where the permission may be given, one is enough: `project`, `group`, `user`, `instance`."""
    no_fine_grained: str | None = None
    """A sentence that says why it takes no fine-grained token at all."""
    job_token: bool = False
    """Whether it takes the token of a CI/CD job."""
    job_policies: tuple[str, ...] = ()
    """What a project's allowlist must grant the job's project, where it is that strict."""

    @property
    def permission_titles(self) -> tuple[str, ...]:
        return tuple(map(permission_title, self.permissions))


def permission_title(permission: str) -> str:
    """`read_work_item` as GitLab shows it: `Work Item: Read`."""
    verb, _, thing = permission.partition("_")
    return f"{thing.replace('_', ' ').title().replace('Gitlab', 'GitLab')}: {verb.capitalize()}"


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What is known of one endpoint in one version."""

    endpoint: str
    """As GitLab spells it."""
    edition: str = "CE"
    """`EE` where GitLab's free edition has no such route."""
    parameters: Mapping[str, Parameter] | None = None
    """Those of the path too. None where GitLab's own list is not known."""
    documented: tuple[Documented, ...] = ()
    """The page about it first."""
    role: str | None = None
    """The least role whose call was not refused, measured."""
    beside: tuple[str, ...] = ()
    """Roles below it that are let in all the same: planner, security_manager."""
    custom_permission: str | None = None
    """What a custom role adds to let in somebody whose role is lower."""
    deprecated: bool = False
    tokens: Tokens | None = None
    """None where it was not read."""
    rules: tuple[tuple[str, ...], ...] = ()
    """`at_least_one_of`, `exactly_one_of`, `mutually_exclusive` or `all_or_none_of`, then names of parameters."""
    answer: tuple[str, ...] = ()
    """The fields of what a read answers, where they are known."""
    in_path: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_path", placeholders(self.endpoint))

    @property
    def permissions(self) -> tuple[str, ...]:
        """What a fine-grained token needs here; empty where it is not known, or where none is taken."""
        return self.tokens.permissions if self.tokens else ()

    @property
    def docs(self) -> str | None:
        return self.documented[0].address if self.documented else None

    @property
    def switch(self) -> str | None:
        return switch_of(normalised(self.endpoint).partition(" ")[2])


def find(endpoint: str, version: str | None = None) -> EndpointFacts | None:
    """What is known of an endpoint, however it is spelled, in a version (else the newest); None where it has none."""
    row = known_endpoints().get(normalised(endpoint))
    return facts_in(row, version) if row is not None else None


def every(version: str | None = None) -> Iterator[EndpointFacts]:
    return (facts for row in known_endpoints().values() if (facts := facts_in(row, version)))


@cache
def known_endpoints() -> Mapping[str, Mapping[str, Any]]:
    return endpoints_of(resources.files(__package__).joinpath(DATA).read_text("utf-8"))


def endpoints_of(text: str) -> dict[str, dict[str, Any]]:
    """What a file knows of each, by normalised endpoint."""
    _, *lines = text.splitlines()
    return {normalised(each["endpoint"]): each for each in map(json.loads, lines)}


def facts_in(row: Mapping[str, Any], version: str | None) -> EndpointFacts | None:
    if not _holds(row, version):
        return None
    params = row.get("params")
    return EndpointFacts(
        endpoint=row["endpoint"],
        edition=_at(row.get("edition"), version) or "CE",
        parameters=None
        if params is None
        else {name: _parameter(told) for name, each in params.items() if (told := _at(each, version))},
        documented=tuple(
            Documented(
                each["page"], each.get("section", ""), each.get("tier"), each.get("as", row["endpoint"])
            )
            for each in row.get("docs", ())
        ),
        role=_at(row.get("role"), version),
        beside=tuple((_at(row.get("beside"), version) or "").split()),
        custom_permission=_at(row.get("custom"), version),
        deprecated=bool(_at(row.get("deprecated"), version)),
        tokens=_tokens(_at(row.get("tokens"), version)),
        rules=tuple(map(tuple, row.get("rules", ()))),
        answer=tuple(row.get("answer", "").split()),
    )


def _tokens(told: Mapping[str, str] | None) -> Tokens | None:
    if told is None:
        return None
    no = told.get("no")
    return Tokens(
        permissions=tuple(told.get("permissions", "").split()),
        boundaries=tuple(told.get("at", "").split()),
        no_fine_grained=NO_FINE_GRAINED.get(no, AMONG_ITSELF) if no else None,
        job_token="job" in told,
        job_policies=tuple(told.get("job", "").split()),
    )


def _parameter(told: str | Mapping[str, Any]) -> Parameter:
    if isinstance(told, str):
        told = {"type": told}
    return Parameter(
        type=told["type"].removesuffix("!"),
        required=told["type"].endswith("!"),
        values=tuple(map(str, told.get("values", ()))),
        default=told.get("default"),
        ee_only=told.get("ee_only", False),
    )


def _at(fact: Any, version: str | None) -> Any:
    """The fact as it is in a version, None where it is not. A list tells one version from another."""
    if isinstance(fact, list):
        return next((_at(each, version) for each in fact if _holds(each, version)), None)
    if not isinstance(fact, dict):
        return fact
    return fact.get("is", fact) if _holds(fact, version) else None


def _holds(fact: Mapping[str, Any], version: str | None) -> bool:
    since, until = fact.get("since"), fact.get("until")
    if version is None:
        return until is None
    number = version_number(version)
    return not (since and number < version_number(since)) and not (until and number > version_number(until))

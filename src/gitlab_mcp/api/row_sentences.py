"""What a row does, in one sentence of ours, from its verb, the words of its path and whose they are.

    project_badge.list                    List the badges of a project.
    project_remote_mirror.update          Change a remote mirror of a project.
    epic_note.delete                      Delete a note of an epic.
    project_asana_integration.set         Set up the Asana integration of a project.

Where the rule reads badly, `row_sentences.txt` has the sentence, by the name of the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from gitlab_mcp.api.endpoints import normalised
from gitlab_mcp.api.row_names import Part, is_collection, name_of, parts_of, scope_and_rest, singular, verb_of

WORDS: Final[Mapping[str, str]] = {
    "ai": "AI",
    "api": "API",
    "ascii": "ASCII",
    "asc": "ASC",
    "ci": "CI/CD",
    "cn": "CN",
    "dsl": "DSL",
    "glql": "GLQL",
    "gitlab": "GitLab",
    "github": "GitHub",
    "gists": "gists",
    "iid": "iid",
    "json": "JSON",
    "jwt": "JWT",
    "ldap": "LDAP",
    "llm": "LLM",
    "mlflow": "MLflow",
    "orbit": "Orbit",
    "saml": "SAML",
    "sast": "SAST",
    "scim": "SCIM",
    "ssh": "SSH",
    "terraform": "Terraform",
    "url": "URL",
    "zoekt": "Zoekt",
    "debian": "Debian",
    "duo": "GitLab Duo",
    "elasticsearch": "Elasticsearch",
    "kubernetes": "Kubernetes",
    "sidekiq": "Sidekiq",
}
"""Words that are not written as in a path."""

PRODUCTS: Final[Mapping[str, str]] = {
    "apple-app-store": "Apple App Store",
    "clickup": "ClickUp",
    "custom-issue-tracker": "custom issue tracker",
    "diffblue-cover": "Diffblue Cover",
    "drone-ci": "Drone",
    "emails-on-push": "emails on push",
    "ewm": "EWM",
    "external-wiki": "external wiki",
    "git-guardian": "GitGuardian",
    "github": "GitHub",
    "gitlab-slack-application": "GitLab for Slack",
    "google-cloud-platform-artifact-registry": "Google Artifact Registry",
    "google-cloud-platform-workload-identity-federation": "Google Cloud workload identity federation",
    "google-play": "Google Play",
    "hangouts-chat": "Google Chat",
    "irker": "irker (IRC)",
    "jira": "Jira",
    "jira-cloud-app": "Jira Cloud app",
    "mattermost-slash-commands": "Mattermost slash commands",
    "microsoft-teams": "Microsoft Teams",
    "pipelines-email": "pipeline status emails",
    "pivotaltracker": "Pivotal Tracker",
    "slack-slash-commands": "Slack slash commands",
    "squash-tm": "Squash TM",
    "teamcity": "TeamCity",
    "unify-circuit": "Unify Circuit",
    "webex-teams": "Webex Teams",
    "youtrack": "YouTrack",
    "zentao": "ZenTao",
}
"""Integrations, where it is not the word of the path with a capital."""

THINGS: Final[Mapping[str, str]] = {
    "alert_management_alerts": "alerts",
    "billable_members": "members who take a seat",
    "cluster_agents": "agents for Kubernetes",
    "email_participants": "e-mail participants",
    "emails": "e-mail addresses",
    "pages": "Pages site",
    "pages_access": "Pages access",
    "domains": "Pages domains",
    "namespaces": "namespaces",
    "virtual_registries": "virtual",
    "raw_diffs": "raw diff",
    "wiki_pages": "wiki pages",
    "merge_ref": "merge ref",
    "clusters": "certificate-based clusters",
    "manage": "",
    "repository": "",
    "resource_groups": "resource groups of CI/CD",
    "resource_iteration_events": "changes of iteration",
    "resource_label_events": "changes of labels",
    "resource_milestone_events": "changes of milestone",
    "resource_state_events": "changes of state",
    "resource_weight_events": "changes of weight",
    "service_accounts": "service accounts",
    "triggers": "pipeline trigger tokens",
    "user_agent_detail": "user agent and IP address of the author",
}
"""Words of a path in a person's words, in the plural where the path has one."""
_SINGULAR_OF: Final[Mapping[str, str]] = {
    "alerts": "alert",
    "e-mail addresses": "e-mail address",
    "wiki pages": "wiki page",
    "members who take a seat": "member who takes a seat",
    "agents for Kubernetes": "agent for Kubernetes",
    "certificate-based clusters": "certificate-based cluster",
    "resource groups of CI/CD": "resource group of CI/CD",
    "changes of iteration": "change of iteration",
    "changes of labels": "change of labels",
    "changes of milestone": "change of milestone",
    "changes of state": "change of state",
    "changes of weight": "change of weight",
    "service accounts": "service account",
    "pipeline trigger tokens": "pipeline trigger token",
}
_SAID_ON: Final = ("notes", "discussions", "award emoji")
_PLACES: Final = ("projects", "groups", "namespaces", "organizations")
_VERBS: Final[Mapping[str, str]] = {
    "delete_all": "Delete",
    "disable_two_factor": "Switch off two-factor authentication for",
    "set": "Set",
    "update": "Change",
    "get": "Read",
    "disable": "Switch off",
    "rollback": "Roll back",
    "rollout": "Roll out",
    "sync": "Start the synchronisation of",
    "verify": "Check",
    "log_batch": "Log a batch of metrics, parameters and tags for",
    "log_metric": "Log a metric for",
    "log_parameter": "Log a parameter for",
    "set_tag": "Set a tag of",
    "resend": "Send again",
    "render": "Show how GitLab would render",
}

CORRECTED: Final = "row_sentences.txt"
"""`name: sentence`, a line each: what is written by hand, because the rule says it badly."""


@cache
def corrected() -> Mapping[str, str]:
    lines = resources.files(__package__).joinpath(CORRECTED).read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def sentence_of(endpoint: str) -> str:
    name = name_of(endpoint)
    if name in corrected():
        return corrected()[name]
    method, path = normalised(endpoint).split(" ", 1)
    parts = parts_of(path)
    verb = name.partition(".")[2]
    if verb == "set" and "integrations" in [part.word for part in parts]:
        slug = parts[-1].word
        product = PRODUCTS.get(slug, slug.replace("-", " ").replace("_", " ").title())
        return f"Set up the {product} integration of a {singular(parts[0].word)}."
    scope, rest = scope_and_rest(parts)
    says_verb = verb_of(method, parts) == verb == parts[-1].word.replace("-", "_")
    if says_verb and len(rest) > 1 and not parts[-1].has_id:
        rest = rest[:-1]
    is_of_instance = rest[0].word == "admin" and len(rest) > 1
    *owners, thing = _things(rest[1:] if is_of_instance else rest)
    first = parts[:2] if len(parts) > 1 else parts
    if not owners and [part.word for part in first] == ["projects", "repository"]:
        owners = ["repositories"]
    whose = [_a(_one(owner)) for owner in reversed(owners)]
    if is_of_instance:
        whose.append("the instance")
    if scope == "own":
        return f"{_of_own(verb, rest[-1], thing)}."
    joined = f" {_preposition(verb, thing, owners)} {' of '.join(whose)}" if whose else ""
    return f"{_said(verb, rest[-1], thing)}{joined}."


def _preposition(verb: str, thing: str, owners: Sequence[str]) -> str:
    if verb != "create":
        return "of"
    if thing in _SAID_ON:
        return "on"
    return "in" if not owners or owners[-1] in _PLACES else "for"


def _of_own(verb: str, part: Part, thing: str) -> str:
    said = _VERBS.get(verb, verb.replace("_", " ").capitalize())
    if verb == "list":
        return f"List your own {thing}"
    if verb == "create":
        return f"Create {_a(_one(thing))} of your own"
    return f"{said} one of your own {thing}" if part.has_id else f"{said} your own {thing}"


def _said(verb: str, part: Part, thing: str) -> str:
    said = _VERBS.get(verb, verb.replace("_", " ").capitalize())
    if verb == "list":
        return f"List the {thing}"
    if verb == "delete_all":
        return f"Delete all {thing}"
    if verb == "get" and part.has_id:
        return f"Read one {_one(thing)}"
    if part.has_id or verb == "create" or is_collection(part):
        return f"{said} {_a(_one(thing))}"
    return f"{said} the {thing}"


def _things(parts: Sequence[Part]) -> list[str]:
    """What the path is about: words up to each id are one thing."""
    things: list[list[str]] = [[]]
    for place, part in enumerate(parts):
        is_last = place == len(parts) - 1
        word = THINGS.get(part.word)
        words = (
            word if word is not None else _words(part.word if part.has_id or is_last else singular(part.word))
        )
        if words:
            things[-1].append(words)
        if part.has_id and not is_last:
            things.append([])
    return [" ".join(words) for words in things if words]


def _words(word: str) -> str:
    return " ".join(WORDS.get(each, each) for each in word.replace("-", "_").replace(".", "_").split("_"))


def _one(thing: str) -> str:
    if thing in _SINGULAR_OF:
        return _SINGULAR_OF[thing]
    head, _, last = thing.rpartition(" ")
    if last == "addresses":
        return f"{head} address"
    return f"{head} {singular(last)}".strip()


def _a(thing: str) -> str:
    sounds_like_a_vowel = thing[:1].lower() in "aeio" or thing.startswith(
        ("upstream", "SSH", "MLflow", "LDAP", "upload")
    )
    return f"{'an' if sounds_like_a_vowel else 'a'} {thing}"

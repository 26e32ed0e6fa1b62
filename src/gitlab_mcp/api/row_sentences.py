"""What a row does, in one sentence of ours, from its verb, the words of its path and whose they are.

    project_badge.list                    List the badges of a project.
    project_remote_mirror.update          Change a remote mirror of a project.
    epic_note.delete                      Delete a note of an epic.
    project_asana_integration.set         Set up the Asana integration of a project.

Where the rule reads badly, SENTENCES has the sentence, by the name of the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "emails": "e-mail addresses",
    "email": "e-mail address",
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
_VERBS: Final[Mapping[str, str]] = {
    "delete_all": "Delete",
    "disable_two_factor": "Switch off two-factor authentication for",
    "set": "Set",
    "update": "Change",
    "get": "Read",
    "download": "Download",
    "sync": "Start the synchronisation of",
    "verify": "Check",
    "log_batch": "Log a batch of metrics, parameters and tags for",
    "log_metric": "Log a metric for",
    "log_parameter": "Log a parameter for",
    "set_tag": "Set a tag of",
    "resend": "Send again",
    "render": "Show how GitLab would render",
}

SENTENCES: Final[Mapping[str, str]] = {}
"""By the name of the row."""


def sentence_of(endpoint: str) -> str:
    name = name_of(endpoint)
    if name in SENTENCES:
        return SENTENCES[name]
    method, path = normalised(endpoint).split(" ", 1)
    parts = parts_of(path)
    verb = name.partition(".")[2]
    if verb == "set" and "integrations" in [part.word for part in parts]:
        slug = parts[-1].word
        product = PRODUCTS.get(slug, slug.replace("-", " ").replace("_", " ").title())
        return f"Set up the {product} integration of a {singular(parts[0].word)}."
    scope, rest = scope_and_rest(parts)
    if (
        verb_of(method, parts) == verb
        and verb == _plain(parts[-1].word)
        and len(rest) > 1
        and not parts[-1].has_id
    ):
        rest = rest[:-1]
    things = _things(rest)
    last, owners = things[-1], things[:-1]
    whose = "".join(f" of {_a(_one(owner))}" for owner in reversed(owners))
    if scope == "own":
        whose += " of your own"
    return f"{_said(verb, rest[-1], last)}{whose}."


def _said(verb: str, part: Part, thing: str) -> str:
    said = _VERBS.get(verb, verb.replace("_", " ").capitalize())
    if verb == "list" or verb == "delete_all":
        return f"{said} {'all ' if verb == 'delete_all' else 'the '}{thing}"
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


def _plain(word: str) -> str:
    return word.replace("-", "_")

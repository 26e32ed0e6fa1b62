"""GitLab.com, invented: nobody measured it. From GitLab's documentation and source, and the map's `gitlab_com_free`.

Each top-level group has a plan of its own, which only its owners read; every answer tells how much of the rate limit is
left; public projects of strangers are in every list that is not narrowed; nobody is an administrator.

    gitlab.add(GitLabCom())      # reached as http://gitlab.com, with the stand-in as the proxy
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from gitlab_mcp.tiers.feature_map import Behaviour, Feature, rank, tier_map
from tests.support.standin.exchange import Received, Reply
from tests.support.standin.faults import ReplyWith
from tests.support.standin.licence import Licence, asks_of_the_licence

Thing = dict[str, Any]

VERSION = "19.4.0-pre"
URL = "http://gitlab.com"
PEOPLE = {"alice": 2, "bob": 3, "dave": 5}
"""alice owns the groups, bob is a developer in them, dave is a stranger."""
ROLES = {"alice": 50, "bob": 30}
PLANS = {"acme-free": "free", "acme-premium": "premium", "acme-ultimate": "ultimate"}
TIERS = {"free": "Free", "premium": "Premium", "ultimate": "Ultimate"}
GROUPS = {name: 70 + number for number, name in enumerate(PLANS)}
PROJECTS = {f"{name}/website": 700 + number for number, name in enumerate(PLANS)}
STRANGERS = {f"stranger-{number}/fork": 9000 + number for number in range(30)}
LIMIT = 2000

_NARROWED = ("membership", "owned", "min_access_level", "starred")
_ADMINISTRATORS = (
    "/license",
    "/application/settings",
    "/admin/",
    "/audit_events",
    "/geo_sites",
    "/hooks",
    "/features",
)
_PLACE = re.compile(r"/(projects|groups|namespaces)/([^/]+)(/.*)?")


@dataclass(slots=True)
class GitLabCom:
    version: str = VERSION
    asked: int = 0
    remaining: int | None = None
    """Of the rate limit, where the answers shall say something else than what was asked."""
    reset: int = 4102444800
    """When the window ends, in seconds since 1970."""
    features: Mapping[str, Feature] = field(default_factory=lambda: tier_map().features)

    def owns(self, received: Received) -> bool:
        return True

    def reply_to(self, received: Received) -> Reply:
        self.asked += 1
        left = LIMIT - self.asked if self.remaining is None else self.remaining
        limits = {
            "RateLimit-Limit": str(LIMIT),
            "RateLimit-Observed": str(LIMIT - left),
            "RateLimit-Remaining": str(left),
            "RateLimit-Reset": str(self.reset),
            "Server": "cloudflare",
            "CF-RAY": "0000000000000000-FRA",
        }
        reply = self._reply(received)
        return replace(reply, headers={**reply.headers, **limits})

    def _reply(self, received: Received) -> Reply:
        caller, route = received.caller, received.route
        if caller not in PEOPLE:
            return Reply.of(401, {"message": "401 Unauthorized"})
        if asks_of_the_licence(received):
            namespace = str(json.loads(received.body)["variables"]["path"]).split("/")[0]
            return Licence(TIERS[PLANS.get(namespace, "free")]).reply_to(received)
        if route in ("/metadata", "/version"):
            return Reply.of(200, {"version": self.version, "revision": "0123abc", "enterprise": True})
        if route == "/user":
            return Reply.of(200, {"id": PEOPLE[caller], "username": caller, "bot": False})
        if route == "/personal_access_tokens/self":
            return Reply.of(200, {"id": 1, "user_id": PEOPLE[caller], "scopes": ["api"], "active": True})
        if route == "/projects":
            return Reply.of(200, self._projects(dict(received.params), caller))
        if route == "/groups":
            mine = [self._group(name) for name in GROUPS] if caller in ROLES else []
            return Reply.of(200, mine)
        if route.startswith(_ADMINISTRATORS):
            return Reply.of(403, {"message": "403 Forbidden"})
        if match := _PLACE.fullmatch(route):
            return self._at(received, match[1], unquote(match[2]), match[3] or "")
        return Reply.of(404, {"error": "404 Not Found"})

    def _projects(self, query: Mapping[str, str], caller: str) -> list[Thing]:
        mine = [self._project(path, caller) for path in PROJECTS] if caller in ROLES else []
        if any(query.get(name) not in (None, "false") for name in _NARROWED):
            return mine
        strangers = [self._project(path, caller) for path in STRANGERS]
        return [*strangers, *mine][: int(query.get("per_page", 20))]

    def _at(self, received: Received, kind: str, named: str, below: str) -> Reply:
        caller = received.caller
        numbers = {**(PROJECTS | STRANGERS if kind == "projects" else GROUPS)}
        path = next((path for path, number in numbers.items() if named in (path, str(number))), None)
        seen = path in STRANGERS or (path is not None and caller in ROLES)
        title = {"projects": "Project", "groups": "Group", "namespaces": "Namespace"}[kind]
        if path is None or not seen or (kind == "namespaces" and ROLES.get(caller) != 50):
            return Reply.of(404, {"message": f"404 {title} Not Found"})
        if not below:
            shown = self._project(path, caller) if kind == "projects" else self._group(path)
            if kind == "namespaces":
                shown = {**shown, "kind": "group", "plan": PLANS[path], "trial": False}
            return Reply.of(200, shown)
        if kind == "groups" and (member := re.fullmatch(r"/members/all/(\d+)", below)):
            name = next((name for name, number in PEOPLE.items() if str(number) == member[1]), "")
            level = ROLES.get(name)
            return (
                Reply.of(200, {"access_level": level})
                if level
                else Reply.of(404, {"message": "404 Not found"})
            )
        return self._feature(received, kind, path, below)

    def _feature(self, received: Received, kind: str, path: str, below: str) -> Reply:
        """A namespace that lacks the feature answers as the map says; one that has it with an empty list."""
        asked = re.sub(r"(?<=/)\d+(?=/|$)", ":", below)
        for feature in self.features.values():
            for endpoint in feature.endpoints:
                method, _, route = endpoint.partition(" ")
                if method == received.method and re.sub(r":\w+", ":", route) == f"/{kind}/:{asked}":
                    return self._reply_of(feature, path.split("/")[0])
            for endpoint, names in feature.parameters.items():
                if endpoint == f"{received.method} /{kind}/:id{asked}" and any(
                    feature.is_needed_for(name, value)
                    for name, value in dict(received.params).items()
                    if name in names and name in feature.only
                ):
                    return self._reply_of(feature, path.split("/")[0])
        return Reply.of(200, [])

    def _reply_of(self, feature: Feature, namespace: str) -> Reply:
        plan = TIERS[PLANS.get(namespace, "free")]
        if rank(plan) >= rank(feature.tier_in(self.version)):
            return Reply.of(200, [])
        return refusal_of(feature.expected("gitlab_com_free", self.version).behaviours[0])

    def _project(self, path: str, caller: str) -> Thing:
        namespace = path.split("/")[0]
        tier = TIERS[PLANS.get(namespace, "free")]
        level = ROLES.get(caller) if path in PROJECTS else None
        shown: Thing = {
            "id": (PROJECTS | STRANGERS)[path],
            "path_with_namespace": path,
            "visibility": "private" if path in PROJECTS else "public",
            "archived": False,
            "requirements_access_level": "enabled",
            "permissions": {
                "project_access": None,
                "group_access": {"access_level": level} if level else None,
            },
            "namespace": {"id": GROUPS.get(namespace, 1), "full_path": namespace, "kind": "group"},
        }
        if rank(tier) >= rank("Premium"):
            shown["allow_pipeline_trigger_approve_deployment"] = False
        if tier == "Ultimate":
            shown["only_allow_merge_if_all_status_checks_passed"] = False
        return shown

    def _group(self, path: str) -> Thing:
        shown: Thing = {"id": GROUPS[path], "full_path": path, "prevent_forking_outside_group": False}
        if PLANS[path] != "free":
            shown["allowed_email_domains_list"] = ""
        return shown


def refusal_of(behaviour: Behaviour) -> Reply:
    if behaviour.effect != "refused":
        return Reply.of(200, [])
    if behaviour.says == "no such route":
        return Reply.of(404, {"error": "404 Not Found"})
    return Reply.of(
        behaviour.status or 403, {"message": behaviour.says or f"{behaviour.status or 403} Forbidden"}
    )


def challenge_page(status: int = 403, title: str = "Just a moment...") -> ReplyWith:
    """What stands before GitLab.com asks a browser to prove itself. It says nothing about GitLab."""
    page = (
        f"<!DOCTYPE html><html><head><title>{title}</title></head><body>Checking your browser.</body></html>"
    )
    headers = {
        "Content-Type": "text/html; charset=UTF-8",
        "Server": "cloudflare",
        "CF-Mitigated": "challenge",
    }
    return ReplyWith(Reply.of(status, page, headers))


def too_many_from_here() -> ReplyWith:
    """A 429 of what stands before GitLab.com: a page, and no header of GitLab's."""
    page = "<!DOCTYPE html><html><head><title>Too many requests</title></head><body>Error 1015</body></html>"
    headers = {"Content-Type": "text/html; charset=UTF-8", "Server": "cloudflare", "Retry-After": "30"}
    return ReplyWith(Reply.of(429, page, headers))

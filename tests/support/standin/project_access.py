"""What has access to one project: access tokens, deploy tokens and keys, webhooks; and the keys of a person.

Synthetic, in GitLab's shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from tests.support.standin.exchange import API, Received, Reply

Thing = dict[str, Any]
KINDS = ("access_tokens", "deploy_tokens", "deploy_keys", "hooks", "keys")
OWN_TOKEN = 3
OF_EE = "projects/0/approval_rules"
"""The Community Edition has no such route."""


@dataclass(slots=True)
class ProjectAccess:
    path: str
    things: dict[str, list[Thing]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    made: int = 100
    refuses: frozenset[str] = frozenset()
    """Kinds that this caller may not read."""

    def owns(self, received: Received) -> bool:
        return self._below(received).partition("/")[0] in (*KINDS, "job_token_scope") or (
            received.path
            in tuple(f"{API}/{name}" for name in ("personal_access_tokens/self", "metadata", "user", OF_EE))
        )

    def reply_to(self, received: Received) -> Reply:
        if received.path == f"{API}/personal_access_tokens/self":
            return Reply.of(
                200, {"id": OWN_TOKEN, "name": "api", "scopes": ["api"], "active": True, "user_id": 2}
            )
        if received.path == f"{API}/metadata":
            return Reply.of(200, {"version": "19.3.0", "enterprise": False})
        if received.path == f"{API}/{OF_EE}":
            return Reply.of(404, {"error": "404 Not Found"})
        if received.path == f"{API}/user":
            return Reply.of(200, {"id": 2, "username": received.caller})
        kind, _, rest = self._below(received).partition("/")
        if kind in self.refuses:
            return Reply.of(401, {"message": "401 Unauthorized"})
        if kind == "job_token_scope":
            return Reply.of(200, [] if rest else {"inbound_enabled": True, "outbound_enabled": False})
        if not rest and received.method == "GET":
            return Reply.of(200, [{**each, "token": None} for each in self.things[kind]])
        if not rest:
            return self._create(kind, received.json)
        number, _, verb = rest.partition("/")
        found = next((each for each in self.things[kind] if str(each["id"]) == number), None)
        if found is None:
            return Reply.of(404, {"message": "404 Not found"})
        if verb == "rotate":
            found.update(revoked=True, active=False)
            return self._create(kind, {**found, **(received.json or {})})
        if received.method == "DELETE" and kind == "access_tokens":
            found.update(revoked=True, active=False)
            return Reply.of(204)
        if received.method == "DELETE":
            self.things[kind].remove(found)
            return Reply.of(204)
        return Reply.of(200, found)

    def _create(self, kind: str, sent: Thing) -> Reply:
        if kind in ("deploy_keys", "keys"):
            for there in self.things[kind]:
                if there["key"].split()[1] == sent["key"].split()[1]:
                    taken = {"message": {"fingerprint_sha256": ["has already been taken"]}}
                    return Reply.of(201, there) if kind == "deploy_keys" else Reply.of(400, taken)
        self.made += 1
        expires = sent.get("expires_at")
        is_past = bool(expires) and date.fromisoformat(str(expires)[:10]) < datetime.now(UTC).date()
        thing: Thing = {
            **sent,
            "id": self.made,
            "created_at": datetime.now(UTC).isoformat(),
            "revoked": False,
        }
        if kind == "access_tokens":
            thing |= {"active": not is_past, "user_id": 900 + self.made}
        self.things[kind].append(thing)
        secret = {"token": f"glpat-{'x' * 16}{self.made:04d}"} if kind.endswith("tokens") else {}
        return Reply.of(201, {**thing, **secret})

    def _below(self, received: Received) -> str:
        for start in (f"{API}/projects/{quote(self.path, safe='')}/", f"{API}/user/"):
            if received.path.startswith(start):
                return received.path.removeprefix(start)
        return ""


def with_one_of_each(path: str, refuses: frozenset[str] = frozenset()) -> ProjectAccess:
    """A project with an access token, a deploy token, a deploy key and a webhook."""
    access = ProjectAccess(path, refuses=refuses)
    access.things["access_tokens"] = [{"id": 12, "name": "ci bot", "scopes": ["read_api"], "active": True}]
    access.things["deploy_tokens"] = [{"id": 1, "name": "deploy", "scopes": ["read_repository"]}]
    access.things["deploy_keys"] = [
        {"id": 5, "title": "server", "can_push": True, "key": "ssh-ed25519 AAAA a"}
    ]
    access.things["hooks"] = [{"id": 9, "url": "https://hooks.example.com/x"}]
    return access

"""A project or group that can be written to. It keeps what is created and refuses what GitLab would refuse.

All of it is invented, in the shapes of GitLab, so that a test can count what exists after a lost answer.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from tests.support.standin.exchange import API, Received, Reply

Thing = dict[str, Any]

PEOPLE = {"root": 1, "alice": 2, "bob": 3, "carol": 4, "dave": 5}
NOT_FOUND = Reply.of(404, {"message": "404 Not found"})


@dataclass(frozen=True, slots=True)
class Kind:
    """The rules of one collection: required fields, and what may exist only once."""

    required: tuple[str, ...]
    named_by: tuple[str, ...]
    """The fields by which one is addressed."""
    unique: tuple[str, ...] = ()
    refusal: Callable[[Thing], Reply] = lambda thing: Reply.of(409, {"message": "409 Conflict"})
    renamed: Mapping[str, str] = field(default_factory=dict)
    """How a field that is sent is called in the answer."""
    posted_to: str | None = None
    """Where one is created, when that is not the collection."""


def _milestone_taken(_: Thing) -> Reply:
    reason = '{:title=>["already being used for another group or project milestone."]}'
    return Reply.of(400, {"message": f"Failed to create milestone {reason}"})


def _request_taken(there: Thing) -> Reply:
    text = f"Another open merge request already exists for this source branch: !{there['iid']}"
    return Reply.of(409, {"message": [text]})


KINDS: Mapping[str, Kind] = {
    "labels": Kind(
        ("name", "color"),
        ("id", "name"),
        ("name",),
        lambda _: Reply.of(409, {"message": "Label already exists"}),
    ),
    "repository/branches": Kind(
        ("branch", "ref"),
        ("name",),
        ("name",),
        lambda _: Reply.of(400, {"message": "Branch already exists"}),
        renamed={"branch": "name"},
    ),
    "repository/tags": Kind(
        ("tag_name", "ref"),
        ("name",),
        ("name",),
        lambda there: Reply.of(400, {"message": f"Tag {there['name']} already exists"}),
        renamed={"tag_name": "name"},
    ),
    "milestones": Kind(("title",), ("id",), ("title",), _milestone_taken),
    "issues": Kind(("title",), ("iid",)),
    "merge_requests": Kind(
        ("source_branch", "target_branch", "title"),
        ("iid",),
        ("source_branch", "target_branch", "state"),
        _request_taken,
    ),
    "releases": Kind(
        ("tag_name",),
        ("tag_name",),
        ("tag_name",),
        lambda _: Reply.of(409, {"message": "Release already exists"}),
    ),
    "variables": Kind(
        ("key", "value"),
        ("key",),
        ("key", "environment_scope"),
        lambda there: Reply.of(400, {"message": {"key": [f"({there['key']}) has already been taken"]}}),
    ),
    "protected_branches": Kind(
        ("name",),
        ("name",),
        ("name",),
        lambda there: Reply.of(409, {"message": f"Protected branch '{there['name']}' already exists"}),
    ),
    "pipelines": Kind(("ref",), ("id",), posted_to="pipeline"),
    "repository/commits": Kind(
        ("branch", "commit_message", "actions"),
        ("id", "short_id"),
        renamed={"commit_message": "message"},
    ),
}

STARTS_AS: Mapping[str, Thing] = {
    "issues": {"state": "opened"},
    "merge_requests": {"state": "opened", "detailed_merge_status": "mergeable"},
    "milestones": {"state": "active"},
    "variables": {"environment_scope": "*", "variable_type": "env_var"},
    "pipelines": {"status": "created", "source": "api"},
}

THREADED = ("issues", "merge_requests")


@dataclass(slots=True)
class World:
    kind: str
    """`projects` or `groups`."""
    path: str
    number: int
    things: dict[str, list[Thing]] = field(default_factory=dict)
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    """Content by branch and path."""
    made: int = 0
    merge_needs_sha: bool = False
    """As in groups that were made on GitLab 19.3."""

    def count(self, collection: str) -> int:
        """How many there are: `labels`, `repository/branches`, `issues/1/notes`, `issues/1/discussions`…"""
        if collection.endswith("/notes"):
            return len(self._notes(collection.removesuffix("/notes")))
        return len(self.things.get(collection, []))

    def head(self, ref: str) -> str:
        """The commit that a branch, a tag or a commit's own id stands for; other names have one of their own."""
        for name in ("repository/branches", "repository/tags"):
            for thing in self.things.get(name, []):
                if thing["name"] == ref and "commit" in thing:
                    return str(thing["commit"]["id"])
        return ref if len(ref) == 40 else hashlib.sha1(ref.encode()).hexdigest()

    def owns(self, received: Received) -> bool:
        return self._below(received) is not None

    def reply_to(self, received: Received) -> Reply:
        if received.token is None:
            return Reply.of(401, {"message": "401 Unauthorized"})
        below = self._below(received) or ""
        if not below:
            return Reply.of(200, self._itself()) if received.method in ("GET", "HEAD") else _no_such_route()
        steps = below.split("/")
        if steps[0] in THREADED and len(steps) > 2 and steps[2] in ("notes", "discussions"):
            return self._thread(received, "/".join(steps[:2]), steps[2:])
        if steps[:2] == ["repository", "files"] and len(steps) == 3:
            return self._file(received, unquote(steps[2]))
        if steps[0] == "merge_requests" and steps[2:] == ["merge"] and received.method == "PUT":
            return self._merge(steps[1], (received.json or {}).get("sha"))
        if steps[:2] == ["repository", "commits"] and len(steps) == 3 and received.method == "GET":
            return self._commit(unquote(steps[2]))
        for name, kind in KINDS.items():
            if below == (kind.posted_to or name) and received.method == "POST":
                return self._create(name, kind, received)
            if below == name and received.method in ("GET", "HEAD"):
                return self._list(self.things.get(name, []), received)
            if below.startswith(f"{name}/") and "/" not in (named := below.removeprefix(f"{name}/")):
                return self._one(name, kind, unquote(named), received)
        return _no_such_route()

    def _below(self, received: Received) -> str | None:
        for name in (quote(self.path, safe=""), str(self.number)):
            start = f"{API}/{self.kind}/{name}"
            if received.path == start or received.path.startswith(f"{start}/"):
                return received.path.removeprefix(start).strip("/")
        return None

    def _itself(self) -> Thing:
        if self.kind == "groups":
            return {"id": self.number, "full_path": self.path, "visibility": "private"}
        return {
            "id": self.number,
            "path_with_namespace": self.path,
            "default_branch": "main",
            "archived": False,
            "permissions": {"project_access": {"access_level": 50}, "group_access": None},
        }

    def _create(self, name: str, kind: Kind, received: Received) -> Reply:
        sent = received.json or {}
        missing = [field for field in kind.required if field not in sent]
        if missing:
            return Reply.of(400, {"error": ", ".join(f"{field} is missing" for field in missing)})
        thing = self._thing(name, received.caller)
        thing |= {kind.renamed.get(key, key): value for key, value in sent.items()}
        for there in self.things.get(name, []):
            if kind.unique and all(there.get(field) == thing.get(field) for field in kind.unique):
                return kind.refusal(there)
        if name in ("repository/branches", "repository/tags"):
            thing["commit"] = {"id": self.head(sent["ref"])}
        if name == "repository/commits" and (refusal := self._write_files(sent["branch"], sent["actions"])):
            return refusal
        self.things.setdefault(name, []).append(thing)
        return Reply.of(201, thing)

    def _thing(self, name: str, caller: str) -> Thing:
        self.made += 1
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sha = hashlib.sha1(f"{name}{self.made}".encode()).hexdigest()
        number = len(self.things.get(name, [])) + 1
        thing: Thing = {
            "id": self.number * 1000 + self.made,
            "iid": number,
            "project_id": self.number,
            "created_at": now,
            "updated_at": now,
            "author": {"id": PEOPLE.get(caller, 99), "username": caller},
            "web_url": f"https://gitlab.example.com/{self.path}/-/{name.removeprefix('repository/')}/{number}",
            **STARTS_AS.get(name, {}),
        }
        if name == "repository/commits":
            thing |= {"id": sha, "short_id": sha[:8]}
        if name == "labels":
            thing |= {"is_project_label": self.kind == "projects"}
        if name == "pipelines":
            thing |= {"sha": sha, "user": thing["author"]}
        return thing

    def _list(self, things: list[Thing], received: Received) -> Reply:
        asked = dict(received.params)
        page, size = int(asked.pop("page", 1)), int(asked.pop("per_page", 20))
        found = [thing for thing in reversed(things) if _fits(thing, asked)]
        headers = {
            "X-Total": str(len(found)),
            "X-Page": str(page),
            "X-Per-Page": str(size),
            "X-Next-Page": str(page + 1) if page * size < len(found) else "",
        }
        return Reply.of(200, found[(page - 1) * size : page * size], headers)

    def _one(self, name: str, kind: Kind, named: str, received: Received) -> Reply:
        things = self.things.get(name, [])
        asked = dict(received.params)
        scope = asked.get("filter[environment_scope]")
        for thing in things:
            if named not in (str(thing.get(field)) for field in kind.named_by):
                continue
            if scope is not None and thing.get("environment_scope") != scope:
                continue
            if received.method == "PUT":
                thing.update(received.json or {})
            if received.method == "DELETE":
                things.remove(thing)
                return Reply.of(204)
            return Reply.of(200, thing)
        return NOT_FOUND

    def _commit(self, ref: str) -> Reply:
        for thing in self.things.get("repository/commits", []):
            if ref in (thing["id"], thing["short_id"]):
                return Reply.of(200, thing)
        return Reply.of(200, {"id": self.head(ref), "short_id": self.head(ref)[:8]})

    def _merge(self, iid: str, sha: str | None) -> Reply:
        if self.merge_needs_sha and sha is None:
            return Reply.of(400, {"message": "SHA must be provided when merging"})
        for thing in self.things.get("merge_requests", []):
            head = thing.get("sha", sha)
            if str(thing["iid"]) == iid and sha is not None and sha != head:
                text = f"SHA does not match HEAD of source branch: {head}"
                return Reply.of(409, {"message": text})
            if str(thing["iid"]) == iid:
                if thing["state"] != "opened":
                    return Reply.of(405, {"message": "405 Method Not Allowed"})
                thing.update(state="merged", detailed_merge_status="not_open")
                return Reply.of(200, thing)
        return NOT_FOUND

    def _thread(self, received: Received, parent: str, steps: list[str]) -> Reply:
        """Every note is in a discussion; one that was made alone is in one of its own."""
        discussions = self.things.setdefault(f"{parent}/discussions", [])
        if received.method == "POST":
            body = (received.json or {}).get("body")
            if body is None:
                return Reply.of(400, {"error": "body is missing"})
            note = {**self._thing("notes", received.caller), "body": body, "system": False}
            if len(steps) == 1:
                discussion: Thing = {
                    "id": f"{self.made:040x}",
                    "individual_note": steps == ["notes"],
                    "notes": [note],
                }
                discussions.append(discussion)
                return Reply.of(201, note if steps == ["notes"] else discussion)
            for discussion in discussions:
                if discussion["id"] == steps[1] and steps[2:] == ["notes"]:
                    discussion["notes"].append(note)
                    return Reply.of(201, note)
            return NOT_FOUND
        if steps == ["notes"]:
            return self._list(self._notes(parent), received)
        if steps == ["discussions"]:
            return self._list(list(reversed(discussions)), received)
        everything = discussions if steps[0] == "discussions" else self._notes(parent)
        found = [thing for thing in everything if str(thing["id"]) == steps[1]]
        return Reply.of(200, found[0]) if found else NOT_FOUND

    def _notes(self, parent: str) -> list[Thing]:
        return [note for thread in self.things.get(f"{parent}/discussions", []) for note in thread["notes"]]

    def _file(self, received: Received, path: str) -> Reply:
        sent = received.json or dict(received.params)
        branch = sent.get("branch") or sent.get("ref") or "main"
        if received.method in ("GET", "HEAD"):
            content = self.files.get((branch, path))
            if content is None:
                return Reply.of(404, {"message": "404 File Not Found"})
            encoded = base64.b64encode(content.encode()).decode()
            return Reply.of(200, {"file_path": path, "ref": branch, "encoding": "base64", "content": encoded})
        verb = {"POST": "create", "PUT": "update", "DELETE": "delete"}[received.method]
        refusal = self._write_files(branch, [{**sent, "action": verb, "file_path": path}])
        if refusal:
            return refusal
        commit = self._thing("repository/commits", received.caller)
        commit["message"] = sent.get("commit_message", "")
        self.things.setdefault("repository/commits", []).append(commit)
        if received.method == "DELETE":
            return Reply.of(204)
        return Reply.of(201 if verb == "create" else 200, {"file_path": path, "branch": branch})

    def _write_files(self, branch: str, actions: list[Thing]) -> Reply | None:
        after = dict(self.files)
        for action in actions:
            place = (branch, action["file_path"])
            if action["action"] == "create" and place in after:
                return Reply.of(400, {"message": "A file with this name already exists"})
            if action["action"] != "create" and place not in after:
                return Reply.of(400, {"message": "A file with this name doesn't exist"})
            if action["action"] == "delete":
                del after[place]
            else:
                after[place] = action.get("content", "")
        self.files = after
        return None


def _fits(thing: Thing, asked: Mapping[str, str]) -> bool:
    """Whether a list asked for in this way has the thing in it. Filters it does not know it ignores."""
    for name, wanted in asked.items():
        if name == "search":
            if wanted.strip("^$").lower() not in str(thing.get("title") or thing.get("name") or "").lower():
                return False
        elif name == "author_id":
            if str(thing["author"]["id"]) != wanted:
                return False
        elif name in ("author_username", "username"):
            if thing["author"]["username"] != wanted:
                return False
        elif name == "created_after":
            if datetime.fromisoformat(thing["created_at"]) < datetime.fromisoformat(wanted):
                return False
        elif name == "iids[]":
            if str(thing.get("iid")) != wanted:
                return False
        elif name in thing and wanted != "all" and str(thing[name]) != wanted:
            return False
    return True


def _no_such_route() -> Reply:
    return Reply.of(404, {"error": "404 Not Found"})

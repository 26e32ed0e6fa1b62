"""The recorded project acme/shop and its neighbours, which keep what is written to them.

    with StandIn() as gitlab:
        shop = Shop(cassettes_of("17.2"))
        gitlab.add(shop)
        ...  # a client of gitlab.url with the token `alice` comments, merges, commits
        assert shop.thing("projects/77/merge_requests", 19)["state"] == "merged"

A read is the recorded answer as long as nobody has written to the nouns in its path. After that, and for filters that
nobody asked for when it was recorded, it is made of the recorded things and of what was written: such a reply is
synthetic, and so is the reply to every write.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode, urlsplit

from tests.support.standin.exchange import API, Received, Reply
from tests.support.standin.recorded import Recorded

Thing = dict[str, Any]

NUMBERS: Final = {"acme%2Fshop": "77", "acme%2Fshop-ff": "78"}
PEOPLE: Final = {"root": 1, "alice": 2, "bob": 3, "carol": 4, "dave": 5}
ADDRESSED_BY: Final = {
    "issues": "iid",
    "merge_requests": "iid",
    "branches": "name",
    "tags": "name",
    "labels": "name",
    "variables": "key",
    "releases": "tag_name",
    "wikis": "slug",
    "protected_branches": "name",
    "protected_tags": "name",
    "feature_flags": "name",
}
"""The field by which one thing of a collection is named in a path, where it is not `id`."""
STARTS_AS: Final[Mapping[str, Thing]] = {
    "issues": {
        "state": "opened",
        "labels": [],
        "assignees": [],
        "issue_type": "issue",
        "confidential": False,
    },
    "merge_requests": {
        "state": "opened",
        "labels": [],
        "assignees": [],
        "reviewers": [],
        "draft": False,
        "detailed_merge_status": "mergeable",
        "has_conflicts": False,
        "merge_when_pipeline_succeeds": False,
        "source_project_id": 77,
        "target_project_id": 77,
    },
    "milestones": {"state": "active"},
    "variables": {"environment_scope": "*", "variable_type": "env_var", "protected": False, "raw": False},
    "pipelines": {"status": "created", "source": "api"},
    "pipeline_schedules": {"active": True, "cron_timezone": "UTC"},
    "access_tokens": {"active": True, "revoked": False, "token": "glpat-synthetic"},
    "deploy_tokens": {"active": True, "revoked": False, "token": "gldt-synthetic"},
    "notes": {"system": False, "resolvable": False},
}
TAKEN: Final[Mapping[str, tuple[int, Any]]] = {
    "labels": (409, {"message": "Label already exists"}),
    "branches": (400, {"message": "Branch already exists"}),
    "tags": (400, {"message": "Tag already exists"}),
    "releases": (409, {"message": "Release already exists"}),
    "variables": (400, {"message": {"key": ["has already been taken"]}}),
    "members": (409, {"message": "Member already exists"}),
    "protected_branches": (409, {"message": "Protected branch already exists"}),
}
"""The refusal where one of that name is there already."""
RENAMED: Final = {"branches": {"branch": "name"}, "tags": {"tag_name": "name"}}
PAID: Final = ("epics", "iterations", "push_rule")
"""Collections that this GitLab without a licence refuses."""
DROPPED: Final = ("weight", "epic_id", "iteration_id", "health_status")
"""Fields that it takes and drops."""
NOT_FOUND: Final = Reply.of(404, {"message": "404 Not found"})


class NotFound(Exception):
    """What is addressed is not there."""


@dataclass(slots=True)
class Shop:
    cassettes: Path
    recorded: Recorded = field(default_factory=Recorded)
    things: dict[str, dict[str, Thing]] = field(default_factory=dict)
    """By collection (`projects/77/issues`), then by the name in its path."""
    files: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """What was written, by branch and path; None where it was deleted."""
    written: set[str] = field(default_factory=set)
    """The nouns that somebody wrote to."""
    unknown: list[str] = field(default_factory=list)
    """Reads that neither a recording nor a thing answers."""
    made: int = 0
    _seeds: dict[str, dict[str, Thing]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for cassette in sorted(self.cassettes.glob("*.json")):
            self.recorded.add_cassette(cassette)
        for _, method, url, _, reply in self.recorded.pending:
            if method == "GET" and reply.status == 200 and "/api/v4/" in url:
                self._seed(_steps(urlsplit(url).path), reply.body)
        self.start_over()

    def start_over(self) -> None:
        """Forget what was written."""
        self._seeds = self._seeds or self.things
        self.things = deepcopy(self._seeds)
        self.files, self.written, self.unknown, self.made = {}, set(), [], 0

    def thing(self, collection: str, name: object) -> Thing:
        return self.things[collection][str(name)]

    def named(self, collection: str, **values: Any) -> list[Thing]:
        """Those that have these values."""
        return [
            thing
            for thing in self.things.get(collection, {}).values()
            if all(thing.get(name) == value for name, value in values.items())
        ]

    def made_in(self, collection: str) -> list[Thing]:
        """Those that were made since."""
        there, before = self.things.get(collection, {}), self._seeds.get(collection, {})
        return [thing for name, thing in there.items() if name not in before]

    def recorded_in(self, collection: str) -> list[Thing]:
        """Those that were recorded, as they were."""
        return list(self._seeds[collection].values())

    def as_recorded(self, collection: str, name: object) -> Thing:
        return self._seeds[collection][str(name)]

    def owns(self, received: Received) -> bool:
        return received.path.startswith((f"{API}/", "/api/graphql"))

    def reply_to(self, received: Received) -> Reply:
        reply = self._reply_to(received)
        return replace(reply, headers={"Date": formatdate(usegmt=True), **reply.headers})

    def _reply_to(self, received: Received) -> Reply:
        if received.token is None:
            return Reply.of(401, {"message": "401 Unauthorized"})
        if received.path == "/api/graphql":
            return self._graphql(received)
        steps = _steps(received.path)
        try:
            if received.method in ("GET", "HEAD"):
                return self._read(steps, received)
            return self._write(steps, received)
        except NotFound:
            return (
                Reply.of(404, {"message": "404 Variable Not Found"}) if steps[2] == "variables" else NOT_FOUND
            )

    # Seeding

    def _seed(self, steps: list[str], body: bytes) -> None:
        try:
            content = json.loads(body)
        except ValueError:
            return
        if isinstance(content, list):
            for row in content:
                if isinstance(row, dict):
                    self._put_seed(_home(steps, row), row)
        elif isinstance(content, dict) and len(steps) > 1:
            name = content.get(ADDRESSED_BY.get(steps[-2], "id"))
            if str(name) == unquote(steps[-1]):
                self._put_seed(steps[:-1], content)

    def _put_seed(self, collection: list[str], row: Thing) -> None:
        name = row.get(ADDRESSED_BY.get(collection[-1], "id"))
        if name is not None:
            there = self.things.setdefault("/".join(collection), {}).setdefault(str(name), {})
            there.update({key: value for key, value in row.items() if key not in there or value is not None})

    # Reading

    def _graphql(self, received: Received) -> Reply:
        """As it was recorded, as long as that is true."""
        is_stale = b"mergeRequest" in received.body and "merge_requests" in self.written
        if not is_stale and (reply := self.recorded.answer_to(received)):
            return reply
        return Reply.of(200, {"errors": [{"message": "Timeout on validation of query"}]})

    def _read(self, steps: list[str], received: Received) -> Reply:
        if not self.written & set(steps) and (reply := self.recorded.answer_to(received)):
            return reply
        if steps[2:4] == ["repository", "files"]:
            return self._file(steps, received)
        if (
            steps[0] == "groups"
            and len(steps) == 2
            and (group := self.named("groups", full_path=unquote(steps[1])))
        ):
            return Reply.of(200, group[0])
        if steps == ["user"]:
            return Reply.of(200, self._person(received.caller))
        if steps == ["users"]:
            wanted = dict(received.params).get("username", "")
            return Reply.of(200, [self._person(wanted)] if wanted in PEOPLE else [])
        found = self.things.get("/".join(steps[:-1]), {}).get(unquote(steps[-1]))
        if found is not None:
            return Reply.of(200, found)
        branch = self.things.get("projects/77/repository/branches", {}).get(unquote(steps[-1]))
        if steps[2:4] == ["repository", "commits"] and branch:
            return Reply.of(200, branch["commit"])
        if steps[-2:-1] == ["branches"]:
            return Reply.of(404, {"message": "404 Branch Not Found"})
        is_of_many = len(steps) == 1 or (steps[0] == "groups" and steps[-1] in ("issues", "merge_requests"))
        if is_of_many or "/".join(steps) in self.things or steps[-1] in self.written:
            return self._list(self._all(steps), received)
        if reply := self.recorded.answer_to(received):
            return reply
        if steps[0] == "projects" and steps[2:] == ["search"]:
            return Reply.of(200, [])
        self.unknown.append(f"{received.method} {received.route}?{received.query}")
        return NOT_FOUND

    def _all(self, steps: list[str]) -> Iterable[Thing]:
        """Those of one collection, or of all projects."""
        if len(steps) == 1 or steps[0] == "groups":
            own = self.things.get("/".join(steps), {})
            ending = f"/{steps[-1]}"
            projects = (
                things
                for name, things in self.things.items()
                if name.startswith("projects/") and name.endswith(ending) and name.count("/") == 2
            )
            return {id(each): each for things in (own, *projects) for each in things.values()}.values()
        return self.things.get("/".join(steps), {}).values()

    def _list(self, things: Iterable[Thing], received: Received) -> Reply:
        asked = {name.removesuffix("[]"): value for name, value in received.params}
        if "iids" in asked:
            asked["iids"] = ",".join(value for name, value in received.params if name.startswith("iids"))
        page, size = int(asked.pop("page", 1)), int(asked.pop("per_page", 20))
        found = [each for each in things if _fits(each, asked, received.caller)]
        by = asked.get("order_by", "id")
        found.sort(
            key=lambda each: (str(each.get(by) or ""), each.get("id") or 0) if by != "id" else _number(each)
        )
        if asked.get("sort", "desc") == "desc":
            found.reverse()
        headers = {
            "X-Total": str(len(found)),
            "X-Page": str(page),
            "X-Per-Page": str(size),
            "X-Next-Page": str(page + 1) if page * size < len(found) else "",
        }
        return Reply.of(200, found[(page - 1) * size : page * size], headers)

    def _file(self, steps: list[str], received: Received) -> Reply:
        path, asked = unquote(steps[4]), dict(received.params)
        branch = asked.get("ref", "main")
        if steps[5:] == ["blame"]:
            return self._blame(received) or Reply.of(404, {"message": "404 File Not Found"})
        content = self.content(branch, path)
        if content is None:
            return Reply.of(404, {"message": "404 File Not Found"})
        if steps[5:] == ["raw"]:
            return Reply.of(200, content)
        encoded = base64.b64encode(content.encode()).decode()
        about = {
            "file_name": path.rpartition("/")[2],
            "file_path": path,
            "ref": branch,
            "size": len(content.encode()),
            "encoding": "base64",
            "content": encoded,
            "last_commit_id": self._head(branch),
        }
        return Reply.of(200, about)

    def _blame(self, received: Received) -> Reply | None:
        """As it was recorded of main, which is the default branch."""
        asked = dict(received.params)
        if asked.get("ref") == "HEAD":
            asked["ref"] = "main"
        return self.recorded.answer_to(replace(received, query=urlencode(asked)))

    def content(self, branch: str, path: str) -> str | None:
        """The text of a file: as it was written to the branch, else as it was recorded on main."""
        if (branch, path) in self.files:
            return self.files[branch, path]
        for ref in ("main", "HEAD"):
            route = f"{API}/projects/77/repository/files/{quote(path, safe='')}"
            reply = self.recorded.answer_to(
                Received("GET", route, f"ref={ref}", {"private-token": "alice"}, b"", 0.0)
            )
            if reply and reply.status == 200:
                return base64.b64decode(json.loads(reply.body)["content"]).decode()
        return None

    # Writing

    def _write(self, steps: list[str], received: Received) -> Reply:
        if set(PAID) & set(steps):
            return Reply.of(403, {"message": "403 Forbidden"})
        sent = {name: value for name, value in _sent(received).items() if name not in DROPPED}
        self.written |= {step for step in steps if not step.isdecimal()} - {
            "projects",
            "groups",
            "repository",
        }
        for pattern, act in _ACTS:
            if match := pattern.fullmatch(f"{received.method} {'/'.join(steps)}"):
                return act(self, match, sent, received)
        if received.method == "POST":
            return self._create(steps, sent, received.caller)
        collection, name = "/".join(steps[:-1]), unquote(steps[-1])
        name = self._name_of(collection, name)
        if received.method == "DELETE":
            del self.things[collection][name]
            return Reply.of(204)
        return self._update(self.things[collection][name], sent)

    def _name_of(self, collection: str, named: str) -> str:
        """What has a name can be addressed by its number, too."""
        things = self.things.get(collection, {})
        for name, thing in things.items():
            if named in (name, str(thing.get("id"))):
                return name
        raise NotFound

    def _create(self, steps: list[str], sent: Thing, caller: str) -> Reply:
        noun, collection = steps[-1], self.things.setdefault("/".join(steps), {})
        by = ADDRESSED_BY.get(noun, "id")
        sent = {RENAMED.get(noun, {}).get(key, key): value for key, value in sent.items()}
        if noun in ("branches", "tags"):
            sent["commit"] = {"id": self._head(str(sent.get("ref", "main")))}
        if noun == "members":
            sent["id"] = int(sent.get("user_id") or PEOPLE[sent["username"]])
            sent |= self._person(_username(sent["id"]))
        if noun == "wikis":
            sent["slug"] = str(sent["title"]).replace(" ", "-")
        if noun in TAKEN and str(sent.get(by)) in collection:
            return Reply.of(*TAKEN[noun])
        thing = self._new(steps, caller) | self._resolved(sent)
        collection[str(thing[by])] = thing
        return Reply.of(201, thing)

    def _new(self, steps: list[str], caller: str) -> Thing:
        self.made += 1
        noun, now = steps[-1], _now()
        numbers = [thing.get("iid") or 0 for thing in self.things.get("/".join(steps), {}).values()]
        iid = max([*numbers, 0]) + 1
        project = int(steps[1]) if steps[0] == "projects" and steps[1].isdecimal() else 77
        return {
            "id": 900_000 + self.made,
            "iid": iid,
            "project_id": project,
            "created_at": now,
            "updated_at": now,
            "author": self._person(caller),
            "sha": hashlib.sha1(f"{steps}{self.made}".encode()).hexdigest(),
            "web_url": f"https://gitlab.example.com/acme/shop/-/{noun}/{iid}",
            **STARTS_AS.get(noun, {}),
        }

    def _update(self, thing: Thing, sent: Thing) -> Reply:
        shown = self._resolved(sent, thing)
        if any(thing.get(name) != value for name, value in shown.items()):
            thing.update(shown, updated_at=_now())
        return Reply.of(200, thing)

    def _resolved(self, sent: Thing, thing: Thing | None = None) -> Thing:
        """What was sent, as GitLab then shows it."""
        there, shown = thing or {}, dict(sent)
        labels = shown.pop("labels", None)
        if labels is not None:
            shown["labels"] = _words(labels)
        more, fewer = _words(shown.pop("add_labels", "")), _words(shown.pop("remove_labels", ""))
        if more or fewer:
            kept = [each for each in there.get("labels", []) if each not in fewer]
            shown["labels"] = [*kept, *(each for each in more if each not in kept)]
        for given, seen in (("assignee_ids", "assignees"), ("reviewer_ids", "reviewers")):
            if given in shown:
                shown[seen] = [self._person(_username(int(each))) for each in shown.pop(given) if int(each)]
        if "milestone_id" in shown:
            number = int(shown.pop("milestone_id") or 0)
            shown["milestone"] = self._milestone(number) if number else None
        event = shown.pop("state_event", None)
        if event:
            shown["state"] = {"close": "closed", "reopen": "opened"}[event]
        if "title" in shown:
            shown["draft"] = str(shown["title"]).startswith("Draft:")
        return shown

    def _milestone(self, number: int) -> Thing:
        for name, things in self.things.items():
            if name.endswith("/milestones") and str(number) in things:
                return things[str(number)]
        raise NotFound

    def _person(self, username: str) -> Thing:
        return {
            "id": PEOPLE.get(username, 99),
            "username": username,
            "name": username.capitalize(),
            "state": "active",
            "web_url": f"https://gitlab.example.com/{username}",
        }

    def _head(self, ref: str) -> str:
        branch = self.things.get("projects/77/repository/branches", {}).get(ref)
        if branch and "commit" in branch:
            return str(branch["commit"]["id"])
        return ref if re.fullmatch("[0-9a-f]{40}", ref) else hashlib.sha1(ref.encode()).hexdigest()

    # Acts: what is more than creating, changing and deleting

    def _commit(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        steps = match[1].split("/")
        branch, start = sent["branch"], sent.get("start_branch")
        branches = self.things.setdefault("projects/77/repository/branches", {})
        if start and branch in branches:
            message = (
                f"A branch called '{branch}' already exists. Switch to that branch in order to make changes"
            )
            return Reply.of(400, {"message": message})
        written = [
            each for each in sent.get("actions", ()) if (start or branch, each["file_path"]) in self.files
        ]
        if any(each.get("last_commit_id") not in (None, self._head(start or branch)) for each in written):
            message = "You are attempting to update a file that has changed since you started editing it."
            return Reply.of(400, {"message": message})
        if start:
            branches[branch] = {"name": branch, "commit": {"id": self._head(start)}, "protected": False}
        actions = sent.get("actions") or [_file_action(received.method, unquote(steps[-1]), sent)]
        for each in actions:
            there = self.content(branch, each["file_path"]) is not None
            if each["action"] == "create" and there:
                return Reply.of(400, {"message": "A file with this name already exists"})
            if each["action"] != "create" and not there:
                return Reply.of(400, {"message": "A file with this name doesn't exist"})
        for each in actions:
            text = each.get("content", "")
            if each.get("encoding") == "base64":
                text = base64.b64decode(text).decode("utf-8", "replace")
            self.files[branch, each["file_path"]] = None if each["action"] == "delete" else text
        commit = self._new(["projects", "77", "repository", "commits"], received.caller)
        commit |= {
            "id": commit["sha"],
            "message": sent.get("commit_message", ""),
            "title": sent.get("commit_message"),
        }
        self.things.setdefault("projects/77/repository/commits", {})[commit["sha"]] = commit
        branches.setdefault(branch, {"name": branch})["commit"] = {"id": commit["sha"]}
        if "actions" in sent:
            return Reply.of(201, commit)
        if received.method == "DELETE":
            return Reply.of(204)
        return Reply.of(200, {"file_path": actions[0]["file_path"], "branch": branch})

    def _picked(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        commit = self._new(["projects", "77", "repository", "commits"], received.caller)
        commit |= {"id": commit["sha"], "title": f"{match[2]} {match[1][:8]}", "parent_ids": [match[1]]}
        commit["message"] = f"{commit['title']}\n\nThis reverts commit {match[1]}"
        self.things.setdefault("projects/77/repository/commits", {})[commit["sha"]] = commit
        branch = self.things["projects/77/repository/branches"].setdefault(
            sent["branch"], {"name": sent["branch"]}
        )
        branch["commit"] = {"id": commit["sha"]}
        return Reply.of(201, commit)

    def _merge(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        request = self._request(match)
        if sent.get("sha") not in (None, request.get("sha")):
            return Reply.of(
                409, {"message": f"SHA does not match HEAD of source branch: {request.get('sha')}"}
            )
        if request["state"] != "opened" or request.get("detailed_merge_status") not in (
            "mergeable",
            "ci_still_running",
        ):
            return Reply.of(405, {"message": "405 Method Not Allowed"})
        if sent.get("auto_merge") or sent.get("merge_when_pipeline_succeeds"):
            return self._update(request, {"merge_when_pipeline_succeeds": True})
        now = _now()
        merged = {"state": "merged", "merged_at": now, "merge_user": self._person(received.caller)}
        return self._update(request, {**merged, "detailed_merge_status": "not_open"})

    def _approve(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        request = self._request(match)
        people = [
            each for each in request.get("approved_by", []) if each["user"]["username"] != received.caller
        ]
        if match[2] == "approve":
            people.append({"user": self._person(received.caller)})
        request["approved_by"] = people
        return Reply.of(201, {**request, "approved_by": people})

    def _request(self, match: re.Match[str]) -> Thing:
        try:
            return self.thing("projects/77/merge_requests", match[1])
        except KeyError:
            raise NotFound from None

    def _start_thread(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        parent, kind = match[1], match[2]
        note = self._new([*parent.split("/"), "notes"], received.caller) | {**STARTS_AS["notes"], **sent}
        self.things.setdefault(f"{parent}/notes", {})[str(note["id"])] = note
        if kind == "notes":
            return Reply.of(201, note)
        note["resolvable"] = True
        thread: Thing = {"id": f"{note['id']:040x}", "individual_note": False, "notes": [note]}
        self.things.setdefault(f"{parent}/discussions", {})[thread["id"]] = thread
        return Reply.of(201, thread)

    def _draft(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        draft = self._new([*match[1].split("/"), "draft_notes"], received.caller) | sent
        on_a_line = (sent.get("position") or {}).get("position_type") == "text"
        draft |= {"author_id": PEOPLE[received.caller], "line_code": "synthetic" if on_a_line else None}
        self.things.setdefault(f"{match[1]}/draft_notes", {})[str(draft["id"])] = draft
        return Reply.of(201, draft)

    def _publish_drafts(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        drafts = self.things.get(f"{match[1]}/draft_notes", {})
        for draft in drafts.values():
            note = self._new([*match[1].split("/"), "notes"], received.caller) | STARTS_AS["notes"]
            note |= {"body": draft["note"], "position": draft.get("position")}
            self.things.setdefault(f"{match[1]}/notes", {})[str(note["id"])] = note
        drafts.clear()
        return Reply.of(204)

    def _reply_in_thread(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        thread = self.things.get(f"{match[1]}/discussions", {}).get(match[2])
        if thread is None:
            raise NotFound
        note = self._new([*match[1].split("/"), "notes"], received.caller) | {**STARTS_AS["notes"], **sent}
        thread["notes"].append(note)
        return Reply.of(201, note)

    def _resolve(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        thread = self.things.get(f"{match[1]}/discussions", {}).get(match[2])
        if thread is None:
            raise NotFound
        for note in thread["notes"]:
            note["resolved"] = str(sent["resolved"]).lower() == "true"
        return Reply.of(200, thread)

    def _run_pipeline(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        return self._create(["projects", match[1], "pipelines"], sent, received.caller)

    def _rerun(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        job = self.things.get("projects/77/jobs", {}).get(match[1])
        if job is None:
            raise NotFound
        again = {**job, **self._new(["projects", "77", "jobs"], received.caller)}
        again |= {"name": job["name"], "status": "pending", "ref": job.get("ref"), "stage": job.get("stage")}
        # Its runner is quick: whoever looks again finds it done.
        self.things["projects/77/jobs"][str(again["id"])] = {**again, "status": "success"}
        return Reply.of(201, again)

    def _link(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        issues = self.things["projects/77/issues"]
        source, target = issues.get(match[1]), issues.get(str(sent["target_issue_iid"]))
        if source is None or target is None:
            raise NotFound
        kind = sent.get("link_type", "relates_to")
        links = self.things.setdefault(f"projects/77/issues/{match[1]}/links", {})
        self.made += 1
        number = 900_000 + self.made
        links[str(target["iid"])] = {**target, "link_type": kind, "issue_link_id": number}
        shown = {"id": number, "source_issue": source, "target_issue": target, "link_type": kind}
        return Reply.of(201, shown)

    def _unlink(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        links = self.things.get(f"projects/77/issues/{match[1]}/links", {})
        for name, link in links.items():
            if str(link["issue_link_id"]) == match[2]:
                del links[name]
                source, target = (
                    self.thing("projects/77/issues", match[1]),
                    self.thing("projects/77/issues", name),
                )
                kind = link["link_type"]
                return Reply.of(200, {"source_issue": source, "target_issue": target, "link_type": kind})
        raise NotFound

    def _mark_caller(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        """Stars, subscriptions: 304 where it is so already."""
        collection, _, name = match[1].rpartition("/")
        thing, is_so = self.thing(collection, name), not match[2].startswith("un")
        marks = thing.setdefault(f"{match[2].removeprefix('un')}s", [])
        if (received.caller in marks) is is_so:
            return Reply.of(304)
        marks.append(received.caller) if is_so else marks.remove(received.caller)
        return Reply.of(201, thing)

    def _archive(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        project, is_so = self.thing("projects", match[1]), match[2] == "archive"
        self.written.add("projects")
        if project.get("archived", False) is is_so:
            return Reply.of(201, project)
        return replace(self._update(project, {"archived": is_so}), status=201)

    def _release(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        tags = self.things.setdefault("projects/77/repository/tags", {})
        if sent["tag_name"] not in tags:
            if "ref" not in sent:
                return Reply.of(422, {"message": "Ref is not specified"})
            tags[sent["tag_name"]] = {"name": sent["tag_name"], "commit": {"id": self._head(sent["ref"])}}
        url = f"{self.thing('projects', match[1])['web_url']}/-/releases/{sent['tag_name']}"
        released = {**sent, "_links": {"self": url}}
        return self._create(["projects", match[1], "releases"], released, received.caller)

    def _mark_project(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        project = self.thing("projects", match[1])
        self.written.add("projects")
        day = (datetime.now(UTC) + timedelta(days=7)).date().isoformat()
        project |= {"marked_for_deletion_on": day, "marked_for_deletion_at": day}
        return Reply.of(202, {"message": "202 Accepted"})

    def _restore_project(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        project = self.thing("projects", match[1])
        project |= {"marked_for_deletion_on": None, "marked_for_deletion_at": None}
        return Reply.of(201, project)

    def _protect(self, match: re.Match[str], sent: Thing, received: Received) -> Reply:
        levels = {
            f"{kind}_access_levels": [
                {
                    "access_level": int(sent.get(f"{kind}_access_level", 40)),
                    "access_level_description": "Maintainers",
                }
            ]
            for kind in ("push", "merge")
        }
        return self._create(
            ["projects", match[1], match[2]], {"name": sent["name"], **levels}, received.caller
        )


Act = Callable[[Shop, "re.Match[str]", Thing, Received], Reply]
_PARENT: Final = r"projects/\d+/(?:issues|merge_requests)/\d+"
_ACTS: Final[tuple[tuple[re.Pattern[str], Act], ...]] = tuple(
    (re.compile(pattern), act)
    for pattern, act in (
        (r"POST (projects/77/repository/commits)", Shop._commit),
        (r"(?:POST|PUT|DELETE) (projects/77/repository/files/[^/]+)", Shop._commit),
        (r"POST projects/77/repository/commits/(\w+)/(cherry_pick|revert)", Shop._picked),
        (r"PUT projects/77/merge_requests/(\d+)/merge", Shop._merge),
        (r"POST projects/77/merge_requests/(\d+)/(approve|unapprove)", Shop._approve),
        (rf"POST ({_PARENT})/(notes|discussions)", Shop._start_thread),
        (rf"POST ({_PARENT})/draft_notes", Shop._draft),
        (rf"POST ({_PARENT})/draft_notes/bulk_publish", Shop._publish_drafts),
        (rf"POST ({_PARENT})/discussions/(\w+)/notes", Shop._reply_in_thread),
        (rf"PUT ({_PARENT})/discussions/(\w+)", Shop._resolve),
        (r"POST projects/(\d+)/pipeline", Shop._run_pipeline),
        (r"POST projects/77/jobs/(\d+)/(?:retry|play)", Shop._rerun),
        (r"POST projects/77/issues/(\d+)/links", Shop._link),
        (r"DELETE projects/77/issues/(\d+)/links/(\d+)", Shop._unlink),
        (rf"POST ({_PARENT}|projects/\d+)/((?:un)?subscribe|(?:un)?star)", Shop._mark_caller),
        (r"POST projects/(\d+)/((?:un)?archive)", Shop._archive),
        (r"POST projects/(\d+)/releases", Shop._release),
        (r"DELETE projects/(\d+)", Shop._mark_project),
        (r"POST projects/(\d+)/restore", Shop._restore_project),
        (r"POST projects/(\d+)/(protected_branches)", Shop._protect),
    )
)


def _steps(path: str) -> list[str]:
    """A path below the API, with numbers for the paths of the recorded projects."""
    steps = path.partition("/api/v4/")[2].strip("/").split("/")
    if len(steps) > 1 and steps[0] == "projects":
        steps[1] = NUMBERS.get(steps[1], steps[1])
    return steps


def _home(steps: list[str], row: Thing) -> list[str]:
    """The collection that a row of a list belongs to: an issue of a group to its project's."""
    project = row.get("project_id")
    if project and (len(steps) == 1 or steps[0] == "groups") and steps[-1] in ("issues", "merge_requests"):
        return ["projects", str(project), steps[-1]]
    if len(steps) > 3 and steps[-1] in ("issues", "merge_requests") and project:
        return ["projects", str(project), steps[-1]]
    return steps


def _sent(received: Received) -> Thing:
    kind = received.headers.get("content-type", "")
    body = received.json if received.body and "json" in kind else None
    return {**dict(received.params), **(body if isinstance(body, dict) else {})}


def _file_action(method: str, path: str, sent: Thing) -> Thing:
    verb = {"POST": "create", "PUT": "update", "DELETE": "delete"}[method]
    return {**sent, "action": verb, "file_path": path}


def _fits(thing: Thing, asked: Mapping[str, str], caller: str) -> bool:
    """Whether a list asked for in this way has the thing in it. Filters it does not know it ignores."""
    return all(_passes(thing, name, wanted, caller) for name, wanted in asked.items())


def _passes(thing: Thing, name: str, wanted: str, caller: str) -> bool:
    match name:
        case "scope":
            people = {"assigned_to_me": "assignees", "reviews_for_me": "reviewers"}
            if wanted in people:
                return caller in _usernames(thing, people[wanted])
            return wanted != "created_by_me" or caller == (thing.get("author") or {}).get("username")
        case "author_username" | "merge_user_username":
            who = name.removesuffix("_username")
            return bool((thing.get(who) or {}).get("username") == wanted)
        case "environment":
            return wanted == ((thing.get("environment") or {}).get("name") or wanted)
        case "author_id":
            return str((thing.get("author") or {}).get("id")) == wanted
        case "assignee_username" | "reviewer_username" | "assignee_id" | "reviewer_id" if wanted == "None":
            return not thing.get(f"{name.partition('_')[0]}s")
        case "assignee_username" | "reviewer_username":
            return wanted in _usernames(thing, f"{name.partition('_')[0]}s")
        case "search":
            text = f"{thing.get('title') or thing.get('name') or ''} {thing.get('description') or ''}"
            return wanted.lower() in text.lower()
        case "labels":
            return set(_words(wanted)) <= set(thing.get("labels") or [])
        case "milestone":
            return bool((thing.get("milestone") or {}).get("title") == wanted)
        case "iids":
            return str(thing.get("iid")) in wanted.split(",")
        case "created_after" | "updated_after" | "merged_after":
            at = str(thing.get(f"{name.partition('_')[0]}_at") or "")
            return bool(at) and datetime.fromisoformat(at) >= _time(wanted)
        case "created_before" | "updated_before" | "merged_before":
            at = str(thing.get(f"{name.partition('_')[0]}_at") or "")
            return bool(at) and datetime.fromisoformat(at) < _time(wanted)
        case (
            "title"
            | "state"
            | "status"
            | "ref"
            | "sha"
            | "source_branch"
            | "target_branch"
            | "name"
            | "username"
            | "visibility"
        ):
            return wanted == "all" or name not in thing or str(thing[name]) == wanted
    return True


def _usernames(thing: Thing, field: str) -> list[str]:
    return [each["username"] for each in thing.get(field) or []]


def _username(number: int) -> str:
    return next((name for name, each in PEOPLE.items() if each == number), f"user{number}")


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _number(thing: Thing) -> tuple[int, str]:
    number = thing.get("id")
    return (number, "") if isinstance(number, int) else (0, str(number or thing.get("name") or ""))


def _words(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [word for word in str(value or "").split(",") if word]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

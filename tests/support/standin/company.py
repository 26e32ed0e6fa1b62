"""Groups, projects and the people in them, as something that changes: members, sharing, deletion, job-token scope.

All of it is invented, in the shapes and with the statuses of GitLab 19.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.world import PEOPLE

Thing = dict[str, Any]

TODAY = "2030-01-07"
GONE_ON = "2030-02-06"
NOT_FOUND = Reply.of(404, {"message": "404 Not found"})
FORBIDDEN = Reply.of(403, {"message": "403 Forbidden"})


@dataclass(slots=True)
class Place:
    """A project or a group."""

    kind: str
    thing: Thing
    members: dict[int, Thing] = field(default_factory=dict)
    invitations: dict[str, Thing] = field(default_factory=dict)
    requests: dict[int, Thing] = field(default_factory=dict)
    protected: list[Thing] = field(default_factory=list)
    allowed: dict[str, list[int]] = field(default_factory=lambda: {"allowlist": [], "groups_allowlist": []})

    @property
    def path(self) -> str:
        return str(self.thing["path_with_namespace" if self.kind == "projects" else "full_path"])


def _user(number: int) -> Thing:
    name = next(name for name, each in PEOPLE.items() if each == number)
    return {"id": number, "username": name, "name": name.capitalize(), "state": "active"}


@dataclass(slots=True)
class Company:
    places: dict[tuple[str, int], Place] = field(default_factory=dict)
    made: int = 700
    notifications: dict[str, Thing] = field(default_factory=dict)
    """What alice chose, by place; everywhere under the empty name."""

    def group(self, path: str, **people: int) -> Place:
        parent, _, name = path.rpartition("/")
        self.made += 1
        thing: Thing = {
            "id": self.made,
            "path": name,
            "full_path": path,
            "name": name,
            "visibility": "private",
            "created_at": f"{TODAY}T10:00:00Z",
            "parent_id": self.at("groups", parent).thing["id"] if parent else None,  # type: ignore[union-attr]
            "archived": False,
            "marked_for_deletion_on": None,
            "shared_with_groups": [],
        }
        return self._add(Place("groups", thing), people)

    def project(self, path: str, **people: int) -> Place:
        self.made += 1
        thing = {
            "id": self.made,
            "path_with_namespace": path,
            "default_branch": "main",
            "visibility": "private",
            "namespace": {"kind": "group", "full_path": path.rpartition("/")[0]},
            "shared_with_groups": [],
            "permissions": {"project_access": None, "group_access": {"access_level": 50}},
        }
        return self._add(Place("projects", thing), people)

    def _add(self, place: Place, people: dict[str, int]) -> Place:
        self.places[place.kind, place.thing["id"]] = place
        for name, level in people.items():
            place.members[PEOPLE[name]] = self._member(PEOPLE[name], level)
        return place

    def at(self, kind: str, id: str) -> Place | None:
        for (place_kind, number), place in self.places.items():
            if place_kind == kind and id in (str(number), place.path):
                return place
        return None

    def owns(self, received: Received) -> bool:
        return received.route.startswith(
            ("/groups", "/projects", "/users", "/user", "/notification_settings")
        ) or received.path.endswith("/graphql")

    def reply_to(self, received: Received) -> Reply:
        if received.path.endswith("/graphql"):
            return Reply.of(200, {"data": {"group": {"permanentDeletionDate": GONE_ON}}})
        if received.route == "/notification_settings":
            return self._notified("", received)
        if received.route == "/user":
            return Reply.of(200, _user(PEOPLE[received.caller]))
        if received.route == "/users":
            wanted = dict(received.params).get("username")
            return Reply.of(200, [_user(number) for name, number in PEOPLE.items() if name == wanted])
        if received.route == "/groups":
            return self._create_group(received.json) if received.method == "POST" else NOT_FOUND
        match = re.fullmatch(r"/(groups|projects)/([^/]+)(?:/(.*))?", received.route)
        place = self.at(match[1], unquote(match[2])) if match else None
        if match is None or place is None:
            return NOT_FOUND
        below = [unquote(step) for step in (match[3] or "").split("/") if step]
        answer = getattr(self, f"_{below[0] if below else 'itself'}", None)
        reply: Callable[[Received, Place, list[str]], Reply] | None = answer
        return reply(received, place, below[1:]) if reply else NOT_FOUND

    def _create_group(self, sent: Thing) -> Reply:
        parent = next(
            (each for each in self.places.values() if each.thing["id"] == sent.get("parent_id")), None
        )
        path = f"{parent.path}/{sent['path']}" if parent else sent["path"]
        if self.at("groups", path):
            return Reply.of(400, {"message": 'Failed to save group {:path=>["has already been taken"]}'})
        group = self.group(path, alice=50)
        group.thing["name"] = sent["name"]
        return Reply.of(201, group.thing)

    def _itself(self, received: Received, place: Place, below: list[str]) -> Reply:
        if received.method == "GET":
            return Reply.of(200, place.thing)
        if received.method == "PUT":
            if path := received.json.pop("path", None):
                self._rename(place, path)
            place.thing |= received.json
            return Reply.of(200, place.thing)
        if received.method != "DELETE":
            return NOT_FOUND
        if dict(received.params).get("permanently_remove") == "true":
            del self.places[place.kind, place.thing["id"]]
            return Reply.of(202, {"message": "202 Accepted"})
        if place.thing["marked_for_deletion_on"]:
            return Reply.of(400, {"message": "Group has already been marked for deletion"})
        self._rename(place, f"{place.thing['path']}-deletion_scheduled-{place.thing['id']}")
        place.thing["marked_for_deletion_on"] = TODAY
        return Reply.of(202, {"message": "202 Accepted"})

    def _transfer(self, received: Received, place: Place, below: list[str]) -> Reply:
        wanted = (received.json or {}).get("group_id")
        if wanted == place.thing["parent_id"]:
            said = "a root group" if wanted is None else "associated to the parent group"
            return Reply.of(400, {"message": f"Transfer failed: Group is already {said}."})
        above = self.places["groups", wanted].path if wanted else ""
        if f"{above}/".startswith(f"{place.path}/"):
            said = "Transfer failed: Cannot transfer group to one of its subgroup."
            return Reply.of(400, {"message": said})
        path = place.thing["path"]
        place.thing |= {"parent_id": wanted, "full_path": f"{above}/{path}" if above else path}
        return Reply.of(201, place.thing)

    def _archive(self, received: Received, place: Place, below: list[str]) -> Reply:
        if place.thing["archived"]:
            return Reply.of(422, {"message": "Group is already archived!"})
        place.thing["archived"] = True
        return Reply.of(200, place.thing)

    def _unarchive(self, received: Received, place: Place, below: list[str]) -> Reply:
        if not place.thing["archived"]:
            return Reply.of(422, {"message": "Group is already unarchived!"})
        place.thing["archived"] = False
        return Reply.of(200, place.thing)

    def _subgroups(self, received: Received, place: Place, below: list[str]) -> Reply:
        number = place.thing["id"]
        found = [each.thing for each in self.places.values() if each.thing.get("parent_id") == number]
        return Reply.of(200, found)

    def _notification_settings(self, received: Received, place: Place, below: list[str]) -> Reply:
        return self._notified(place.path, received)

    def _notified(self, where: str, received: Received) -> Reply:
        settings = self.notifications.setdefault(where, {"level": "participating"})
        if received.method == "PUT":
            settings |= received.json
        return Reply.of(200, settings)

    def _rename(self, place: Place, path: str) -> None:
        parent = place.path.rpartition("/")[0]
        place.thing |= {"path": path, "full_path": f"{parent}/{path}" if parent else path}

    def _restore(self, received: Received, place: Place, below: list[str]) -> Reply:
        if not place.thing["marked_for_deletion_on"]:
            return Reply.of(400, {"message": "Group has not been marked for deletion"})
        self._rename(place, place.thing["path"].partition("-deletion_scheduled-")[0])
        place.thing["marked_for_deletion_on"] = None
        return Reply.of(201, place.thing)

    def _share(self, received: Received, place: Place, below: list[str]) -> Reply:
        shared = place.thing["shared_with_groups"]
        if received.method == "DELETE":
            left = [each for each in shared if str(each["group_id"]) != below[0]]
            place.thing["shared_with_groups"] = left
            return Reply.of(204 if len(left) < len(shared) else 404)
        other = self.places["groups", received.json["group_id"]]
        shared.append(
            {
                "group_id": other.thing["id"],
                "group_full_path": other.path,
                "group_access_level": received.json["group_access"],
                "expires_at": received.json.get("expires_at"),
            }
        )
        return Reply.of(201, place.thing)

    def _above(self, place: Place) -> Iterator[Place]:
        path = place.path.rpartition("/")[0]
        while path:
            if group := self.at("groups", path):
                yield group
            path = path.rpartition("/")[0]

    def _everybody(self, place: Place) -> dict[int, Thing]:
        found = dict(place.members)
        for group in self._above(place):
            for number, member in group.members.items():
                if number not in found or found[number]["access_level"] < member["access_level"]:
                    found[number] = member
        above = [shared for group in self._above(place) for shared in group.thing["shared_with_groups"]]
        for shared in (*place.thing["shared_with_groups"], *above):
            for number, member in self.places["groups", shared["group_id"]].members.items():
                level = min(member["access_level"], shared["group_access_level"])
                if number not in found or found[number]["access_level"] < level:
                    found[number] = {**member, "access_level": level}
        return found

    def _members(self, received: Received, place: Place, below: list[str]) -> Reply:
        if below[:1] == ["all"]:
            found, below = self._everybody(place), below[1:]
        else:
            found = place.members
        if received.method == "POST":
            return self._add_member(place, received.json)
        if not below:
            asked = [int(value) for name, value in received.params if name == "user_ids[]"]
            return Reply.of(200, [each for number, each in found.items() if not asked or number in asked])
        number = int(below[0])
        if number not in found:
            return NOT_FOUND
        if received.method == "GET":
            return Reply.of(200, found[number])
        if number not in place.members:
            return NOT_FOUND
        if received.method == "DELETE":
            del place.members[number]
            return Reply.of(204)
        place.members[number] |= received.json
        return Reply.of(200, place.members[number])

    def _add_member(self, place: Place, sent: Thing) -> Reply:
        number = sent["user_id"]
        if number in place.members:
            return Reply.of(409, {"message": "Member already exists"})
        above = max(
            (
                group.members[number]["access_level"]
                for group in self._above(place)
                if number in group.members
            ),
            default=0,
        )
        if above > sent["access_level"]:
            name = _user(number)["username"]
            reason = (
                "Access level should be greater than or equal to Maintainer inherited membership from group"
            )
            return Reply.of(201, {"status": "error", "message": f"{name}: {reason} Acme"})
        place.members[number] = self._member(number, sent["access_level"], sent.get("expires_at"))
        return Reply.of(201, place.members[number])

    def _member(self, number: int, level: int, expires_at: str | None = None) -> Thing:
        return {
            **_user(number),
            "access_level": level,
            "expires_at": expires_at,
            "membership_state": "active",
        }

    def _invitations(self, received: Received, place: Place, below: list[str]) -> Reply:
        if received.method == "GET":
            wanted = dict(received.params).get("query", "")
            return Reply.of(200, [each for email, each in place.invitations.items() if wanted in email])
        if received.method == "POST":
            sent = received.json
            account = sent["email"].partition("@")[0]
            if account in PEOPLE:
                member = self._member(PEOPLE[account], sent["access_level"], sent.get("expires_at"))
                place.members.setdefault(PEOPLE[account], member)
                return Reply.of(201, {"status": "success"})
            invitation = {"invite_email": sent["email"], "access_level": sent["access_level"]}
            place.invitations[sent["email"]] = {**invitation, "expires_at": sent.get("expires_at")}
            return Reply.of(201, {"status": "success"})
        if below[0] not in place.invitations:
            return NOT_FOUND
        if received.method == "DELETE":
            del place.invitations[below[0]]
            return Reply.of(204)
        place.invitations[below[0]] |= received.json
        return Reply.of(200, place.invitations[below[0]])

    def _access_requests(self, received: Received, place: Place, below: list[str]) -> Reply:
        caller = PEOPLE[received.caller]
        if received.method == "POST":
            if caller in self._everybody(place):
                return FORBIDDEN
            place.requests[caller] = {**_user(caller), "requested_at": f"{TODAY}T10:00:00Z"}
            return Reply.of(201, place.requests[caller])
        if received.method == "GET":
            return Reply.of(200, list(place.requests.values()))
        if int(below[0]) not in place.requests:
            return NOT_FOUND
        number = int(below[0])
        if received.method == "DELETE":
            del place.requests[number]
            return Reply.of(204)
        level = (received.json or {}).get("access_level", 30)
        member = self._member(number, level)
        # As GitLab 17.2 does with a role it does not have: it says yes, and the request stays.
        if level % 10 == 0:
            place.members[number] = member
            del place.requests[number]
        return Reply.of(201, member)

    def _protected_branches(self, received: Received, place: Place, below: list[str]) -> Reply:
        return Reply.of(200, place.protected)

    def _job_token_scope(self, received: Received, place: Place, below: list[str]) -> Reply:
        name = below[0] if below else ""
        if name not in place.allowed:
            return Reply.of(200, {"inbound_enabled": True, "outbound_enabled": False})
        listed, kind = place.allowed[name], "projects" if name == "allowlist" else "groups"
        target = "target_project_id" if kind == "projects" else "target_group_id"
        if received.method == "POST":
            if received.json[target] in listed:
                said = f"400 Bad request - This {kind[:-1]} is already in the job token allowlist."
                return Reply.of(400, {"message": said})
            listed.append(received.json[target])
            return Reply.of(201, {"source_project_id": place.thing["id"], **received.json})
        if received.method == "GET":
            return Reply.of(200, [self.places[kind, number].thing for number in listed])
        if int(below[1]) not in listed:
            said = f"400 Bad request - Target {kind[:-1]} is not in the job token scope"
            return Reply.of(400, {"message": said})
        listed.remove(int(below[1]))
        return Reply.of(204)

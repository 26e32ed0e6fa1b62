"""The work items of one project over GraphQL: what was made is kept, and what GitLab refuses or drops in silence is
refused and dropped in its recorded words. All of it is synthetic; `version` is 17.2 or 19.3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.world import PEOPLE

Thing = dict[str, Any]

TYPES = {1: "Issue", 2: "Incident", 5: "Task", 6: "Objective", 7: "Key Result", 8: "Epic", 9: "Ticket"}
FREE = {"Issue", "Incident", "Task", "Ticket"}
CHILDREN = {"Issue": {"Task"}, "Incident": {"Task"}, "Ticket": {"Task"}}
WITHOUT_DATES = {"Incident"}
HIDDEN = (
    "The resource that you are attempting to access does not exist or you don't have permission to perform this "
    "action"
)


@dataclass(slots=True)
class WorkItems:
    path: str
    version: str = "19.3"
    items: dict[int, Thing] = field(default_factory=dict)
    """By number, which here is the same in the project and in all of GitLab."""
    order: dict[int, list[int]] = field(default_factory=dict)
    """The children of each parent."""

    def add(self, title: str, kind: str = "Issue", parent: int | None = None, **more: Any) -> int:
        number = max(self.items, default=0) + 1
        self.items[number] = {
            "title": title, "type": kind, "state": "OPEN", "parent": None, "assignees": [], "labels": [],
            "links": {}, "locked": None, "description": None, "startDate": None, "dueDate": None,
            "milestone": None, "confidential": False, "author": "alice", **more,
        }  # fmt: skip
        if parent:
            self._put_under(number, parent)
        return number

    def children(self, parent: int) -> list[str]:
        return [self.items[number]["title"] for number in self.order.get(parent, [])]

    def owns(self, received: Received) -> bool:
        return received.path == "/api/graphql" and "workItem" in received.body.decode()

    def reply_to(self, received: Received) -> Reply:
        document, variables = received.json["query"], received.json["variables"]
        mutation = re.search(r"mutation\(\$input: \w+!\) \{ (\w+)\(", document)
        if mutation:
            return self._mutate(mutation[1], variables["input"], received.caller)
        if "workItemTypes" in document:
            named = [name for name in TYPES.values() if name in FREE or self.version == "17.2"]
            nodes = [
                {"id": f"gid://gitlab/WorkItems::Type/{number}", "name": name, "widgetDefinitions": []}
                for number, name in TYPES.items()
                if name in named
            ]
            return self._data({self._place(document): {"workItemTypes": {"nodes": nodes}}})
        if "workItems(" in document:
            return self._list(document, variables)
        if "workItem(iid" in document:
            found = self.items.get(int(variables["iid"])) if variables["path"] == self.path else None
            node = self._node(int(variables["iid"])) if found else None
            return self._data({"namespace": {"workItem": node} if variables["path"] == self.path else None})
        number = _number(variables["id"])
        return self._data({"workItem": self._node(number)}) if number in self.items else _refused(HIDDEN)

    def _place(self, document: str) -> str:
        return "group" if "group(fullPath" in document else "project"

    def _list(self, document: str, asked: Mapping[str, Any]) -> Reply:
        place = self._place(document)
        if place == "group" and self.version == "17.2":
            return self._data({"group": {"workItems": None}})
        found = [
            number
            for number, item in sorted(self.items.items(), reverse=True)
            if asked.get("types", [item["type"].upper().replace(" ", "_")])
            == [item["type"].upper().replace(" ", "_")]
            and asked.get("author", item["author"]) == item["author"]
            and asked.get("search", "").lower() in item["title"].lower()
            and asked.get("state", "all") in ("all", "closed" if item["state"] == "CLOSED" else "opened")
        ]
        page = {"endCursor": None, "hasNextPage": False}
        nodes = [self._node(number) for number in found]
        return self._data({place: {"workItems": {"count": len(found), "nodes": nodes, "pageInfo": page}}})

    def _mutate(self, name: str, sent: Mapping[str, Any], caller: str) -> Reply:
        if name == "workItemCreate":
            return self._create(sent, caller)
        number = _number(sent["id"])
        if number not in self.items:
            return _refused(HIDDEN)
        if name == "workItemUpdate":
            return self._update(number, sent)
        if name == "workItemConvert":
            return self._convert(number, TYPES[_number(sent["workItemTypeId"])])
        if name == "workItemDelete":
            del self.items[number]
            return self._data({name: {"errors": []}})
        if name == "workItemsHierarchyReorder":
            return self._reorder(number, sent)
        target = _number(sent["workItemsIds"][0])
        if name == "workItemRemoveLinkedItems":
            self.items[number]["links"].pop(target, None)
        elif sent["linkType"] != "RELATED":
            sentence = "Blocked work items are not available for the current subscription tier"
            return self._payload(name, number, [sentence])
        else:
            self.items[number]["links"][target] = "relates_to"
        return self._payload(name, number, [])

    def _create(self, sent: Mapping[str, Any], caller: str) -> Reply:
        if sent["namespacePath"] != self.path:
            return _refused(HIDDEN)
        if self.version == "17.2" and "startAndDueDateWidget" in sent:
            return _refused(
                "Variable $input of type WorkItemCreateInput! was provided invalid value for startAndDueDateWidget "
                "(Field is not defined on WorkItemCreateInput)"
            )
        kind = TYPES[_number(sent["workItemTypeId"])]
        parent = _number((sent.get("hierarchyWidget") or {}).get("parentId"))
        if parent and kind not in CHILDREN.get(self.items[parent]["type"], set()):
            sentence = f"#{parent} cannot be added: it's not allowed to add this type of parent item"
            return self._payload("workItemCreate", None, [sentence])
        # An unlicensed 17.2 makes an issue of what it does not sell.
        number = self.add(sent["title"], kind if kind in FREE else "Issue", parent or None, author=caller)
        self.items[number]["confidential"] = bool(sent.get("confidential"))
        self._set_widgets(number, sent)
        return self._payload("workItemCreate", number, [])

    def _update(self, number: int, sent: Mapping[str, Any]) -> Reply:
        item = self.items[number]
        if "weightWidget" in sent:
            return _refused(
                f"Following widget keys are not supported by {item['type']} type: [:weight_widget]"
            )
        item["title"] = sent.get("title", item["title"])
        item["confidential"] = sent.get("confidential", item["confidential"])
        if sent.get("stateEvent") == "CLOSE":
            item["state"] = "CLOSED"
        locked = (sent.get("notesWidget") or {}).get("discussionLocked", item["locked"])
        if sent.get("stateEvent") == "REOPEN" and not locked:
            item["state"] = "OPEN"
        item["locked"] = locked
        if "hierarchyWidget" in sent:
            parent = _number(sent["hierarchyWidget"].get("parentId"))
            if parent and item["type"] not in CHILDREN.get(self.items[parent]["type"], set()):
                sentence = f"#{parent} cannot be added: it's not allowed to add this type of parent item"
                return self._payload("workItemUpdate", None, [sentence])
            if "adjacentWorkItemId" in sent["hierarchyWidget"]:
                self._place_beside(number, sent["hierarchyWidget"])
            else:
                self._put_under(number, parent or None)
        self._set_widgets(number, sent)
        return self._payload("workItemUpdate", number, [])

    def _set_widgets(self, number: int, sent: Mapping[str, Any]) -> None:
        item = self.items[number]
        if "assigneesWidget" in sent:
            # Free keeps one, without a word.
            item["assignees"] = [_number(gid) for gid in sent["assigneesWidget"]["assigneeIds"]][:1]
        if "descriptionWidget" in sent:
            item["description"] = sent["descriptionWidget"]["description"]
        if "startAndDueDateWidget" in sent:
            item |= sent["startAndDueDateWidget"]
        labels = sent.get("labelsWidget") or {}
        added = labels.get("labelIds") or labels.get("addLabelIds") or []
        kept = [gid for gid in item["labels"] if gid not in labels.get("removeLabelIds", [])]
        item["labels"] = [*kept, *(gid for gid in added if gid not in kept)]

    def _convert(self, number: int, kind: str) -> Reply:
        item = self.items[number]
        if kind not in FREE:
            return _refused(f"You are not allowed to change the Work Item type to {kind}.")
        if item["parent"] and kind not in CHILDREN.get(self.items[item["parent"]]["type"], set()):
            above = self.items[item["parent"]]["type"].lower()
            sentence = f"Work item type cannot be changed to {kind.lower()} when linked to a parent {above}."
            return self._payload("workItemConvert", None, [sentence])
        item["type"] = kind
        return self._payload("workItemConvert", number, [])

    def _reorder(self, number: int, sent: Mapping[str, Any]) -> Reply:
        if self.version == "17.2":
            return _refused(
                "workItemsHierarchyReorderInput isn't a defined input type (on $input)", code="undefinedType"
            )
        self._place_beside(number, sent)
        return self._payload("workItemsHierarchyReorder", number, [])

    def _place_beside(self, number: int, sent: Mapping[str, Any]) -> None:
        siblings = self.order[self.items[number]["parent"]]
        siblings.remove(number)
        at = siblings.index(_number(sent["adjacentWorkItemId"]))
        siblings.insert(at if sent["relativePosition"] == "BEFORE" else at + 1, number)

    def _put_under(self, number: int, parent: int | None) -> None:
        before = self.items[number]["parent"]
        if before:
            self.order[before].remove(number)
        self.items[number]["parent"] = parent
        if parent:
            self.order.setdefault(parent, []).append(number)

    def _payload(self, name: str, number: int | None, errors: list[str]) -> Reply:
        node = self._node(number) if number is not None and not errors else None
        return self._data({name: {"errors": errors, "message": "", "workItem": node}})

    def _reference(self, number: int) -> Thing:
        item = self.items[number]
        return {
            "id": f"gid://gitlab/WorkItem/{number}",
            "iid": str(number),
            "title": item["title"],
            "state": item["state"],
            "workItemType": {"name": item["type"]},
            "namespace": {"fullPath": self.path},
        }

    def _node(self, number: int) -> Thing:
        item = self.items[number]
        below = [self._reference(child) for child in self.order.get(number, []) if child in self.items]
        people = {identity: name for name, identity in PEOPLE.items()}
        widgets: list[Thing] = [
            {
                "type": "ASSIGNEES",
                "assignees": {"nodes": [_person(people[each]) for each in item["assignees"]]},
            },
            {"type": "LABELS", "labels": {"nodes": [{"id": gid, "title": gid} for gid in item["labels"]]}},
            {"type": "MILESTONE", "milestone": item["milestone"]},
            {"type": "DESCRIPTION", "description": item["description"]},
            {
                "type": "HIERARCHY",
                "hasChildren": bool(below),
                "parent": self._reference(item["parent"]) if item["parent"] else None,
                "children": {
                    "count": len(below),
                    "nodes": below,
                    "pageInfo": {"endCursor": None, "hasNextPage": False},
                },
            },
            {
                "type": "LINKED_ITEMS",
                "linkedItems": {
                    "nodes": [
                        {"linkType": kind, "workItem": self._reference(target)}
                        for target, kind in item["links"].items()
                    ]
                },
            },
            {"type": "NOTES", "discussionLocked": item["locked"]},
        ]
        if item["type"] not in WITHOUT_DATES:
            dates = {"startDate": item["startDate"], "dueDate": item["dueDate"]}
            widgets.append({"type": "START_AND_DUE_DATE", **dates})
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return {
            **self._reference(number),
            "confidential": item["confidential"],
            "createdAt": now,
            "updatedAt": now,
            "closedAt": None,
            "webUrl": f"https://gitlab.example.com/{self.path}/-/work_items/{number}",
            "author": _person(item["author"]),
            "widgets": widgets,
        }

    @staticmethod
    def _data(data: Thing) -> Reply:
        return Reply.of(200, {"data": data})


def _refused(sentence: str, **extensions: str) -> Reply:
    error: Thing = {"message": sentence}
    return Reply.of(
        200, {"errors": [{**error, "extensions": extensions} if extensions else error], "data": None}
    )


def _person(name: str) -> Thing:
    return {"id": f"gid://gitlab/User/{PEOPLE.get(name, 99)}", "username": name, "name": name.capitalize()}


def _number(gid: str | None) -> int:
    return int(gid.rpartition("/")[2]) if gid else 0

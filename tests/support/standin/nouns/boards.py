"""Issue boards with lists of labels."""

from __future__ import annotations

from typing import ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import NOT_FOUND, Routes, Thing, page


class Boards(Routes):
    routes: ClassVar = {
        "GET /boards": "all",
        r"GET /boards/(\d+)": "get",
        r"GET /boards/(\d+)/lists": "lists",
        r"POST /boards/(\d+)/lists": "create_list",
        r"PUT /boards/(\d+)/lists/(\d+)": "move_list",
        "GET /issues": "issues",
        r"GET /issues/(\d+)": "issue",
        r"PUT /issues/(\d+)": "relabel",
        r"GET /labels/([\w-]+)": "label",
    }

    def __init__(self, place: str, name: str, labels: tuple[str, ...], issues: tuple[Thing, ...]) -> None:
        super().__init__(place)
        self.name = name
        self.labels = {label: number for number, label in enumerate(labels, 41)}
        self.columns = list(self.labels.values())
        self.on_it = issues

    def all(self, received: Received) -> Reply:
        return page([self._board()])

    def get(self, received: Received, number: str) -> Reply:
        return Reply.of(200, self._board()) if number == "1" else NOT_FOUND

    def lists(self, received: Received, number: str) -> Reply:
        return page(self._lists())

    def create_list(self, received: Received, number: str) -> Reply:
        label = received.json["label_id"]
        if label not in self.labels.values():
            return Reply.of(400, {"message": {"error": "Label not found"}})
        if label in self.columns:
            return Reply.of(400, {"message": {"error": "Label has already been taken"}})
        self.columns.append(label)
        return Reply.of(201, self._lists()[-1])

    def move_list(self, received: Received, number: str, named: str) -> Reply:
        self.columns.remove(int(named))
        self.columns.insert(received.json["position"], int(named))
        return Reply.of(200, next(each for each in self._lists() if each["id"] == int(named)))

    def issues(self, received: Received) -> Reply:
        label = dict(received.params)["labels"]
        return page([each for each in self.on_it if label in each["labels"]])

    def issue(self, received: Received, iid: str) -> Reply:
        found = [each for each in self.on_it if each["iid"] == int(iid)]
        return Reply.of(200, found[0]) if found else NOT_FOUND

    def relabel(self, received: Received, iid: str) -> Reply:
        added, removed = (received.json.get(name, "").split(",") for name in ("add_labels", "remove_labels"))
        for each in self.on_it:
            if each["iid"] == int(iid):
                each["labels"] = [*(name for name in each["labels"] if name not in removed), *added]
        return self.issue(received, iid)

    def label(self, received: Received, name: str) -> Reply:
        return Reply.of(200, {"id": self.labels[name], "name": name}) if name in self.labels else NOT_FOUND

    def _board(self) -> Thing:
        return {"id": 1, "name": self.name, "lists": self._lists()}

    def _lists(self) -> list[Thing]:
        names = {number: name for name, number in self.labels.items()}
        return [
            {"id": number, "label": {"id": number, "name": names[number]}, "position": position}
            for position, number in enumerate(self.columns)
        ]

"""Feature flags. Strategies are added, and removed where `_destroy` says so."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import NOT_FOUND, Routes, Thing


class FeatureFlags(Routes):
    routes: ClassVar = {
        r"GET /feature_flags/([\w-]+)": "get",
        r"PUT /feature_flags/([\w-]+)": "update",
        "POST /feature_flags": "create",
    }

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.flags: dict[str, Thing] = {}
        self.made = 0

    def add(self, name: str, *strategies: Thing, active: bool = True) -> None:
        self.flags[name] = {"name": name, "active": active, "strategies": []}
        self._change(self.flags[name], strategies)

    def get(self, received: Received, name: str) -> Reply:
        return Reply.of(200, self.flags[name]) if name in self.flags else NOT_FOUND

    def create(self, received: Received) -> Reply:
        sent = received.json
        if sent.get("version") != "new_version_flag":
            return Reply.of(400, {"message": "Version is invalid"})
        self.add(sent["name"], *sent.get("strategies", ()), active=sent.get("active", True))
        return Reply.of(201, self.flags[sent["name"]])

    def update(self, received: Received, name: str) -> Reply:
        if name not in self.flags:
            return NOT_FOUND
        sent = dict(received.json)
        self._change(self.flags[name], sent.pop("strategies", ()))
        self.flags[name] |= sent
        return Reply.of(200, self.flags[name])

    def on_for(self, name: str, environment: str) -> list[Any]:
        """The strategies that a client in the environment is told of."""
        flag = self.flags[name]
        return [
            (each["name"], each["parameters"])
            for each in flag["strategies"]
            if flag["active"]
            and any(scope["environment_scope"] in ("*", environment) for scope in each["scopes"])
        ]

    def _change(self, flag: Thing, sent: Any) -> None:
        there = {each["id"]: each for each in flag["strategies"]}
        for entry in sent:
            if entry.get("_destroy"):
                del there[entry["id"]]
                continue
            self.made += 1
            number = entry.get("id", self.made)
            old = there.get(number, {"scopes": []})
            removed = [each["id"] for each in entry.get("scopes", ()) if each.get("_destroy")]
            added = [each for each in entry.get("scopes", ()) if not each.get("_destroy")]
            scopes = [each for each in old["scopes"] if each["id"] not in removed]
            for each in added:
                self.made += 1
                scopes.append({"id": self.made, **each})
            there[number] = {**old, **entry, "id": number, "scopes": scopes, "user_list": None}
        flag["strategies"] = list(there.values())

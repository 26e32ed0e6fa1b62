"""Pipeline schedules with their variables and inputs."""

from __future__ import annotations

from typing import ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import Routes, Thing, now, page

NO_SCHEDULE = Reply.of(404, {"message": "404 Pipeline Schedule Not Found"})
NO_VARIABLE = Reply.of(404, {"message": "404 Pipeline Schedule Variable Not Found"})


class Schedules(Routes):
    routes: ClassVar = {
        "GET /pipeline_schedules": "list",
        "POST /pipeline_schedules": "create",
        r"GET /pipeline_schedules/(\d+)": "get",
        r"PUT /pipeline_schedules/(\d+)": "update",
        r"DELETE /pipeline_schedules/(\d+)": "delete",
        r"POST /pipeline_schedules/(\d+)/play": "play",
        r"POST /pipeline_schedules/(\d+)/variables": "add_variable",
        r"PUT /pipeline_schedules/(\d+)/variables/(\w+)": "change_variable",
    }

    def __init__(self, place: str, branches: tuple[str, ...] = ("main",)) -> None:
        super().__init__(place)
        self.branches = branches
        self.made: dict[int, Thing] = {}
        self.queued: set[int] = set()

    def list(self, received: Received) -> Reply:
        return page([_without(each, "variables") for each in self.made.values()])

    def create(self, received: Received) -> Reply:
        sent = received.json
        if sent["ref"] not in self.branches:
            return Reply.of(400, {"message": {"ref": ["is ambiguous"]}})
        number = len(self.made) + 1
        self.made[number] = {
            "id": number,
            "active": True,
            "cron_timezone": "UTC",
            **sent,
            "ref": f"refs/heads/{sent['ref']}",
            "next_run_at": "2026-11-19T03:03:00.000Z",
            "created_at": now(),
            "owner": {"id": 2, "username": received.caller},
            "variables": [],
        }
        return Reply.of(201, _without(self.made[number], "variables", "inputs"))

    def get(self, received: Received, number: str) -> Reply:
        return Reply.of(200, self.made[int(number)]) if int(number) in self.made else NO_SCHEDULE

    def update(self, received: Received, number: str) -> Reply:
        if int(number) not in self.made:
            return NO_SCHEDULE
        self.made[int(number)] |= received.json
        return Reply.of(200, _without(self.made[int(number)], "variables", "inputs"))

    def delete(self, received: Received, number: str) -> Reply:
        return Reply.of(204) if self.made.pop(int(number), None) else NO_SCHEDULE

    def play(self, received: Received, number: str) -> Reply:
        if int(number) in self.queued:
            return Reply.of(500, {"message": "Unable to schedule pipeline run immediately"})
        self.queued.add(int(number))
        return Reply.of(201, {"message": "201 Created"})

    def add_variable(self, received: Received, number: str) -> Reply:
        if int(number) not in self.made:
            return NO_SCHEDULE
        variables = self.made[int(number)]["variables"]
        if received.json["key"] in [each["key"] for each in variables]:
            return Reply.of(400, {"message": {"key": ["has already been taken"]}})
        variables.append({"variable_type": "env_var", "raw": False, **received.json})
        return Reply.of(201, variables[-1])

    def change_variable(self, received: Received, number: str, key: str) -> Reply:
        if int(number) not in self.made:
            return NO_SCHEDULE
        for each in self.made[int(number)]["variables"]:
            if each["key"] == key:
                each |= received.json
                return Reply.of(200, each)
        return NO_VARIABLE


def _without(thing: Thing, *names: str) -> Thing:
    return {name: value for name, value in thing.items() if name not in names}

"""Runners of a project."""

from __future__ import annotations

from typing import ClassVar

from tests.support.standin.exchange import Received, Reply
from tests.support.standin.nouns.routes import Routes, Thing, page

NO_RUNNER = Reply.of(404, {"message": "404 Runner Not Found"})


class Runners(Routes):
    routes: ClassVar = {
        r"GET /projects/[^/]+/runners": "list",
        r"GET /runners/(\d+)": "get",
        r"GET /runners/(\d+)/jobs": "jobs",
        r"PUT /runners/(\d+)": "update",
        "POST /user/runners": "create",
    }

    def __init__(self, runners: dict[int, Thing], jobs: dict[int, list[Thing]]) -> None:
        super().__init__()
        self.runners = runners
        self.running = jobs

    def list(self, received: Received) -> Reply:
        status = dict(received.params).get("status")
        return page([each for each in self.runners.values() if status in (None, each["status"])])

    def get(self, received: Received, number: str) -> Reply:
        return Reply.of(200, self.runners[int(number)]) if int(number) in self.runners else NO_RUNNER

    def jobs(self, received: Received, number: str) -> Reply:
        status = dict(received.params).get("status")
        return page([each for each in self.running.get(int(number), []) if status in (None, each["status"])])

    def update(self, received: Received, number: str) -> Reply:
        if int(number) not in self.runners:
            return NO_RUNNER
        self.runners[int(number)] |= received.json
        return Reply.of(200, self.runners[int(number)])

    def create(self, received: Received) -> Reply:
        number = max(self.runners, default=0) + 1
        self.runners[number] = {"id": number, "status": "never_contacted", "paused": False, **received.json}
        return Reply.of(201, {"id": number, "token": "glrt-made-for-a-test", "token_expires_at": None})

"""People in the stand-in: who they are and in which groups. Their answers are synthetic, in the shapes of GitLab."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.support.standin import Received, Reply, StandIn


class People:
    """Says who a token's user is, and who is in a group. A token is the name of its person; `alice2` is another token
    of alice."""

    def __init__(self, members: Mapping[str, tuple[str, ...]]) -> None:
        self.people = {"alice": 2, "bob": 3, "carol": 4, "dave": 5}
        """Usernames with their numbers."""
        self.bots: dict[str, str] = {}
        """Tokens with the username of their bot."""
        self.members = members

    def owns(self, received: Received) -> bool:
        return received.route in ("/user", "/job") or "/members/" in received.route

    def reply_to(self, received: Received) -> Reply:
        user = self._user_of(received.token or "")
        if received.route == "/user":
            return Reply.of(200, user)
        if received.route == "/job":
            return Reply.of(200, {"id": 7, "user": user})
        group, _, number = received.route.removeprefix("/groups/").partition("/members/")
        path, is_direct = unquote(group).casefold(), not number.startswith("all/")
        number = number.removeprefix("all/")
        # Whoever is in a group is in all groups below it.
        above = [path.rsplit("/", cut)[0] for cut in range(1 if is_direct else path.count("/") + 1)]
        inside = {name for each in above for name in self.members.get(each, ())}
        if user["username"] not in inside or str(user["id"]) != number:
            return Reply.of(404, {"message": "404 Not found"})
        return Reply.of(200, {"id": user["id"], "username": user["username"], "access_level": 30})

    def _user_of(self, token: str) -> dict[str, Any]:
        if token in self.bots:
            number = 900 + list(self.bots).index(token)
            return {"id": number, "username": self.bots[token], "bot": True}
        name = token.rstrip("0123456789")
        return {"id": self.people[name], "username": name, "bot": False}


def with_people(standin: StandIn, members: Mapping[str, tuple[str, ...]] | None = None) -> People:
    people = People(members or {})
    standin.add(people)
    return people


def write_policy(folder: Path, text: str) -> Path:
    """As a new version that was written a while ago and is now put in the place of another."""
    file, new = folder / "policy.yaml", folder / "policy.yaml.new"
    new.write_text(text, "utf-8")
    os.utime(new, (time.time() - 60, time.time() - 60))
    new.replace(file)
    return file

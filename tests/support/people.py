"""People in the stand-in: who they are and in which groups. Their answers are synthetic, in the shapes of GitLab."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.standin import Received, Reply, StandIn

NOT_A_MEMBER = {"message": "404 Not found"}


class People:
    """Answers who a token's user is, and who is in a group. The token of a person is their name; a second token of
    theirs has a digit at its end, as `alice2`."""

    def __init__(self, members: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.numbers = {"alice": 2, "bob": 3, "carol": 4, "dave": 5}
        self.bots: dict[str, str] = {}
        """The username of the bot that a token belongs to."""
        self.members = dict(members or {})
        """By group, as GitLab knows it in a path, the names of those in it or in one above it."""

    def owns(self, received: Received) -> bool:
        return received.route in ("/user", "/job") or "/members/all/" in received.route

    def reply_to(self, received: Received) -> Reply:
        token = received.token or ""
        if received.route == "/user":
            return Reply.of(200, self.user_of(token))
        if received.route == "/job":
            return Reply.of(200, {"id": 7, "user": self.user_of(token)})
        group, _, number = received.route.removeprefix("/groups/").partition("/members/all/")
        inside = self.members.get(group.casefold(), ())
        person = next((name for name in inside if self.numbers.get(name) == int(number)), None)
        if person is None:
            return Reply.of(404, NOT_A_MEMBER)
        return Reply.of(200, {"id": int(number), "username": person, "access_level": 30})

    def user_of(self, token: str) -> dict[str, Any]:
        if token in self.bots:
            return {"id": 900 + list(self.bots).index(token), "username": self.bots[token], "bot": True}
        name = token.rstrip("0123456789")
        return {"id": self.numbers[name], "username": name, "bot": False}


def with_people(standin: StandIn, **members: tuple[str, ...]) -> People:
    """`acme=("alice",)`: who is in which group. A subgroup is written `acme__team`."""
    people = People({group.replace("__", "%2f"): inside for group, inside in members.items()})
    standin.add(people)
    return people


def policy(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text, "utf-8")
    return file

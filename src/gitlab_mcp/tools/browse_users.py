"""Users: the caller and others, their projects, activity and keys."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gitlab_mcp.actions.action import GET, POST, Action, Endpoint
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab, Request
from gitlab_mcp.actions.fields import (
    Date,
    EventAction,
    EventTarget,
    Flag,
    NonEmpty,
    Search,
    Sort,
    Time,
    UserId,
    UserInPath,
    Username,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.inbox import read_inbox
from gitlab_mcp.workflows.project_paths import with_project_paths

browse = Tool(
    "browse_users",
    "Read users and their activity.",
    also=(
        "person",
        "account",
    ),
    instead={
        "me whoami self myself current_user get_current_user who_am_i": "current",
        "get": Instead("list", only_with="username"),
        "activity": "events",
        "waiting plate my_work my_day dashboard assigned_to_me pending notifications": "inbox",
        "groups": "browse_user_details memberships",
        "ssh_keys": "browse_user_details keys",
    },
)

USER = (
    "id username name state"
    " | web_url bot public_email job_title organization location bio pronouns local_time created_at"
    " followers following is_followed"
)
CURRENT_USER = (
    "id username name state email web_url is_admin can_create_project can_create_group external"
    " two_factor_enabled public_email commit_email job_title created_at last_activity_on"
)
EVENT = (
    "created_at action_name author=author_username project project_id target_type target_iid target_title"
    " ref=push_data.ref commit_title=push_data.commit_title commits=push_data.commit_count note=note.body"
)


class OfUser(Action):
    """On these routes GitLab takes a username in the place of the number."""

    user_id: UserInPath | None = None
    username: Username | None = None


@browse.action(
    "current",
    GET("/user"),
    example={},
    shows=CURRENT_USER,
    # The caller is the same in every project.
    rewrites=dict.fromkeys(("project_id", "group_id"), lambda value, given: {}),
)
class CurrentUser(Action):
    """The person (or bot) whose token this is."""


@browse.action(
    "get",
    GET("/users/{user_id}"),
    example={"user_id": 2},
    shows=USER,
)
class GetUser(Action):
    """Read one user, by username or number."""

    user_id: UserId


@browse.action(
    "list",
    GET("/users"),
    example={"username": "bob"},
    shows=USER,
    not_taken={
        "project_id": "those who can see a project: browse_projects users",
        "group_id": "members of a group are not offered yet",
    },
    seldom_given="blocked without_project_bots admins active pagination cursor",
)
class ListUsers(Paged):
    """Find users by username, or by words of their name or email.

    GitLab counts pages up to 50,000 users; with pagination=keyset a list goes on by the cursor of next_page.
    """

    username: Username | None = None
    search: Search | None = None
    active: Flag | None = None
    blocked: Flag | None = None
    without_project_bots: Flag | None = None
    admins: Flag | None = None
    created_after: Time | None = None
    created_before: Time | None = None
    order_by: Literal["id", "name", "username", "created_at", "updated_at"] | None = None
    sort: Sort | None = None
    pagination: Literal["keyset"] | None = None
    cursor: NonEmpty | None = None

    def request_to(self, endpoint: Endpoint, **changes: Any) -> Request:
        # Without the word GitLab does not look at the cursor, and begins again.
        keyset = {"pagination": "keyset"} if self.cursor else {}
        return super().request_to(endpoint, **{**keyset, **changes})


@browse.action(
    "events",
    GET("/events", "/users/{user_id}/events", "/users/{username}/events"),
    docs=Differs("api/events/#get-contribution-events-for-a-user", "mostly asked of somebody else"),
    example={"user_id": 2},
    shows=EVENT,
    seldom_given="event_action target_type scope before after",
)
class Events(OfUser, Paged):
    """What a user did lately; without a user, what the caller did."""

    scope: Annotated[Literal["all"], Field(description="Everybody's in my projects")] | None = None
    event_action: EventAction | None = None
    target_type: EventTarget | None = None
    before: Date | None = None
    after: Date | None = None
    sort: Sort | None = None

    async def run(self, gitlab: GitLab) -> Answer:
        return await with_project_paths(gitlab, await gitlab.send(self.request()))


@browse.action(
    "counts",
    GET("/user_counts"),
    example={},
    has_line=True,
)
class Counts(Action):
    """How much waits for you. Counts issues, merge requests, reviews and to-dos."""


@browse.action(
    "inbox",
    POST("/graphql"),
    docs="user/todos/",
    example={},
    has_line=True,
)
class Inbox(Action):
    """All that waits for you, and what blocks your merge requests. Reviews, issues, mentions, other to-dos and failed
    pipelines, each part with how many there are."""

    async def run(self, gitlab: GitLab) -> Result:
        return await read_inbox(gitlab)

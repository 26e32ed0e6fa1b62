"""What is seldom asked about a user: projects, memberships, followers, keys."""

from __future__ import annotations

from typing import Literal

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.fields import (
    Search,
    Sort,
    UserId,
    UserInPath,
    Username,
)
from gitlab_mcp.actions.scopes import Paged
from gitlab_mcp.actions.tool import Tool

browse = Tool(
    "browse_user_details",
    "Read what is seldom asked about a user.",
    toolset="insight",
    also=("ssh_key", "gpg_key", "follower"),
)


USER = (
    "id username name state"
    " | web_url bot public_email job_title organization location bio pronouns local_time created_at"
    " followers following is_followed"
)


PROJECT = "id path_with_namespace description visibility archived marked_for_deletion_on last_activity_at"


KEY = "id title key usage_type created_at expires_at"


ProjectOrder = Literal["id", "name", "path", "created_at", "updated_at", "last_activity_at", "star_count"]


class OfUser(Action):
    """On these routes GitLab takes a username in the place of the number."""

    user_id: UserInPath | None = None
    username: Username | None = None


@browse.action(
    "projects",
    GET("/users/{user_id}/projects", "/users/{username}/projects"),
    example={"user_id": 2},
    shows=PROJECT,
    moved_from="browse_users",
)
class PersonalProjects(OfUser, Paged):
    """Projects in the user's own namespace."""

    search: Search | None = None
    order_by: ProjectOrder | None = None
    sort: Sort | None = None


@browse.action(
    "contributed_projects",
    GET("/users/{user_id}/contributed_projects", "/users/{username}/contributed_projects"),
    example={"user_id": 2},
    shows=PROJECT,
    moved_from="browse_users",
)
class ContributedProjects(OfUser, Paged):
    """Projects the user worked on in the last year."""

    order_by: ProjectOrder | None = None
    sort: Sort | None = None


@browse.action(
    "starred_projects",
    GET("/users/{user_id}/starred_projects", "/users/{username}/starred_projects"),
    example={"user_id": 2},
    shows=PROJECT,
    moved_from="browse_users",
)
class StarredProjects(OfUser, Paged):
    """Projects the user starred."""

    search: Search | None = None
    order_by: ProjectOrder | None = None
    sort: Sort | None = None


@browse.action(
    "status",
    GET("/user/status", "/users/{user_id}/status", "/users/{username}/status"),
    docs=Differs("api/users/#retrieve-the-status-of-a-user", "mostly asked of somebody else"),
    example={"user_id": 2},
    shows="emoji message availability clear_status_at",
    moved_from="browse_users",
)
class Status(OfUser):
    """Busy or not, and the message; without a user, the caller's."""


@browse.action(
    "associations_count",
    GET("/users/{user_id}/associations_count"),
    example={"user_id": 2},
    moved_from="browse_users",
    has_line=True,
)
class AssociationsCount(Action):
    """How many projects, groups, issues and merge requests a user has; others' for administrators only."""

    user_id: UserId


@browse.action(
    "memberships",
    GET("/users/{user_id}/memberships"),
    example={"user_id": 2},
    shows="source_type source_id source_name access_level",
    moved_from="browse_users",
)
class Memberships(Paged):
    """Groups and projects a user is a member of, with the role."""

    user_id: UserId


@browse.action(
    "followers",
    GET("/users/{user_id}/followers"),
    example={"user_id": 2},
    shows=USER,
    moved_from="browse_users",
)
class Followers(Paged):
    """Who follows a user."""

    user_id: UserId


@browse.action(
    "following",
    GET("/users/{user_id}/following"),
    example={"user_id": 2},
    shows=USER,
    moved_from="browse_users",
)
class Following(Paged):
    """Whom a user follows."""

    user_id: UserId


@browse.action(
    "keys",
    GET("/user/keys", "/users/{user_id}/keys", "/users/{username}/keys"),
    example={"user_id": 2},
    shows=KEY,
    moved_from="browse_users",
)
class Keys(OfUser, Paged):
    """Public SSH keys; without a user, the caller's."""


@browse.action(
    "gpg_keys",
    GET("/user/gpg_keys", "/users/{user_id}/gpg_keys"),
    example={"user_id": 2},
    shows="id created_at key",
    moved_from="browse_users",
)
class GpgKeys(Paged):
    """Public GPG keys; without a user, the caller's."""

    user_id: UserId | None = None


@browse.action(
    "emails",
    GET("/user/emails", "/users/{user_id}/emails"),
    example={},
    shows="id email confirmed_at",
    moved_from="browse_users",
)
class Emails(Paged):
    """The caller's email addresses; another user's for administrators only."""

    user_id: UserId | None = None

"""Write threads, notes and emoji reactions on issues, merge requests and commits."""

from __future__ import annotations

from gitlab_mcp.actions.action import DELETE, GET, POST, PUT, Danger, Role
from gitlab_mcp.actions.action_facts import Differs
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.fields import DiscussionId, Flag, Id, Sha
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import CommentText
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, begun_with, said
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import OfIssueOrMergeRequest
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import FORMER, Undo
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows.attached_files import WithFiles
from gitlab_mcp.workflows.merge_requests.thread_resolution import resolve_all
from gitlab_mcp.workflows.unchanged_since import IfUnchanged

manage = Tool(
    "manage_discussion",
    "Comment on an issue, a merge request or a commit; resolve threads.",
    also=("comment", "note", "thread"),
    instead={
        "comment note post": "create_note",
        "add add_comment create_comment": "create_note",
        "delete remove delete_comment remove_comment": Instead(
            "delete_note", needs=("note_id",), advice="Use action delete_note with note_id."
        ),
        "update edit update_comment edit_comment": Instead("update_note", needs=("note_id",)),
        "start thread start_thread create_thread open_thread new_thread create_discussion": "create",
        "answer add_reply create_reply": "reply",
        "reopen": "unresolve",
        "resolve_threads resolve_discussions bulk_resolve": "resolve_all",
        "react emoji award": "manage_reaction add",
        "unreact": "manage_reaction remove",
        "draft": "manage_review create_draft",
        "comment_line": "manage_review comment_line",
    },
)

ISSUE = "/projects/{project_id}/issues/{issue_iid}"
MERGE_REQUEST = "/projects/{project_id}/merge_requests/{merge_request_iid}"
COMMIT = "/projects/{project_id}/repository/commits/{sha}"

THREAD = "/discussions/{discussion_id}"
NOTE = "/notes/{note_id}"


class WrittenComment(WithFiles, OfIssueOrMergeRequest):
    """A body of nothing but quick actions writes no note; `summary` in the answer says what they did."""

    body: CommentText


@manage.action(
    "create",
    POST(ISSUE + "/discussions", MERGE_REQUEST + "/discussions", COMMIT + "/discussions"),
    danger=Danger.REVERSIBLE,
    docs=Differs("api/discussions/#create-new-merge-request-thread", "most threads are on merge requests"),
    example={
        "project_id": "writes/app",
        "sha": "4432a39d7773ebe315e5190947ee81875b06d6c9",
        "body": "A commit thread",
    },
    shows="id note_id=notes.id summary",
    recover_with=RecoveryLookup(
        "browse_discussions list",
        "project_id issue_iid merge_request_iid sha",
        proof=begun_with("body"),
        every_page=True,
    ),
    has_line=True,
    seldom_given="attached_files",
    undo=Undo(
        "delete_note",
        "project_id issue_iid merge_request_iid",
        "note_id=notes.0.id",
        without="attached_files",
    ),
)
class CreateThread(WrittenComment):
    """Start a thread that can be answered, and on a merge request resolved."""

    sha: Sha | None = None


@manage.action(
    "reply",
    POST(ISSUE + THREAD + "/notes", MERGE_REQUEST + THREAD + "/notes", COMMIT + THREAD + "/notes"),
    danger=Danger.REVERSIBLE,
    docs=Differs(
        "api/discussions/#add-note-to-existing-merge-request-thread",
        "most threads are on merge requests",
    ),
    example={
        "project_id": "acme/website",
        "issue_iid": 1,
        "discussion_id": "5b7b0969fa26acbdc68b11fc8fde72bfc6f8223b",
        "body": "A reply",
    },
    shows="id summary",
    recover_with=RecoveryLookup(
        "browse_discussions get",
        "project_id issue_iid merge_request_iid sha discussion_id",
        proof=said("body"),
        inside="notes",
    ),
    seldom_given="attached_files",
    undo=Undo(
        "delete_note", "project_id issue_iid merge_request_iid", "note_id=id", without="attached_files"
    ),
)
class Reply(WrittenComment):
    """Answer in a thread."""

    sha: Sha | None = None
    discussion_id: DiscussionId


@manage.action(
    "create_note",
    POST(ISSUE + "/notes", MERGE_REQUEST + "/notes"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/shop", "merge_request_iid": 25, "body": "A plain note, not a thread."},
    shows="id internal commands_changes summary",
    recover_with=RecoveryLookup(
        "browse_discussions list_notes", "project_id issue_iid merge_request_iid", proof=said("body")
    ),
    seldom_given="attached_files",
    undo=Undo(
        "delete_note", "project_id issue_iid merge_request_iid", "note_id=id", without="attached_files"
    ),
)
class CreateNote(WrittenComment):
    """Comment. Quick actions (/label ~bug) are carried out only with quick_actions: true."""

    internal: Flag | None = None


@manage.action(
    "update_note",
    PUT(ISSUE + NOTE, MERGE_REQUEST + NOTE),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "issue_iid": 1,
        "note_id": 89,
        "body": "I can reproduce this on main.",
    },
    shows="id updated_at",
    role=Role.GUEST,
    recover_with=RecoveryLookup(
        "browse_discussions get_note", "project_id issue_iid merge_request_iid note_id"
    ),
    seldom_given="expected_updated_at",
    undo=Undo(
        "update_note",
        "project_id issue_iid merge_request_iid note_id",
        former=FORMER,
        changed_at="updated_at",
    ),
)
class UpdateNote(IfUnchanged, OfIssueOrMergeRequest):
    """Rewrite your own comment."""

    note_id: Id
    body: CommentText


@manage.action(
    "delete_note",
    DELETE(ISSUE + NOTE, MERGE_REQUEST + NOTE),
    danger=Danger.DESTRUCTIVE,
    example={"project_id": "writes/app", "issue_iid": 1, "note_id": 89},
    # One's own; somebody else's needs a maintainer.
    role=Role.GUEST,
    recover_with=RecoveryLookup(
        "browse_discussions get_note", "project_id issue_iid merge_request_iid note_id"
    ),
)
class DeleteNote(OfIssueOrMergeRequest):
    """Delete a comment."""

    note_id: Id


class OfThread(OfIssueOrMergeRequest):
    discussion_id: DiscussionId

    async def set_resolved(self, gitlab: GitLab, resolved: bool) -> Answer:
        """Reads the thread first: GitLab answers 500 for an unknown one and an unexplained 403 for a plain comment."""
        request = self.request(resolved=resolved)
        thread = await gitlab.get(request.path)
        states = [note["resolved"] for note in thread.body["notes"] if note["resolvable"]]
        if not states:
            raise CallFailed(_cannot_be_resolved())
        if all(state is resolved for state in states):
            return Answer(304)
        return await gitlab.send(request)


def _cannot_be_resolved() -> Failure:
    return Failure(
        Code.CONFLICT, "This is a plain comment, not a thread: there is nothing to resolve."
    ).knowing(
        state="not resolvable",
        confidence="certain",
        evidence=["none of its notes is resolvable"],
        suggested_fix="Answer it with reply, or take the discussion_id of a thread with resolvable notes.",
    )


@manage.action(
    "resolve",
    PUT(ISSUE + THREAD, MERGE_REQUEST + THREAD),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "issue_iid": 1,
        "discussion_id": "a996f68f586799e1ae102747fc93083fd9983dd8",
    },
    shows="id resolved=notes.resolved",
    undo=Undo("unresolve", "project_id issue_iid merge_request_iid discussion_id"),
)
class Resolve(OfThread):
    """Mark a thread as settled."""

    async def run(self, gitlab: GitLab) -> Answer:
        return await self.set_resolved(gitlab, True)


@manage.action(
    "resolve_all",
    GET(ISSUE + "/discussions", MERGE_REQUEST + "/discussions"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "acme/shop", "merge_request_iid": 12},
    role=Differs(Role.DEVELOPER, "each thread is resolved as resolve does it"),
    repeatable=True,
    lists=False,
    recover_with=RecoveryLookup("browse_discussions list", "project_id issue_iid merge_request_iid"),
    seldom_given="dry_run",
    undo=Undo("unresolve", "project_id issue_iid merge_request_iid", each="discussion_id=resolved"),
)
class ResolveAll(OfIssueOrMergeRequest):
    """Mark every open thread as settled; dry_run lists them. Sent again, it leaves out what is settled."""

    dry_run: Flag | None = None

    async def run_with(self, server: Server) -> Result:
        where = {name: value for name, value in self.given().items() if name != "dry_run"}
        return await resolve_all(server, self.request().path, where, dry_run=bool(self.dry_run))


@manage.action(
    "unresolve",
    PUT(ISSUE + THREAD, MERGE_REQUEST + THREAD),
    danger=Danger.REVERSIBLE,
    example={
        "project_id": "writes/app",
        "merge_request_iid": 1,
        "discussion_id": "5989a8674c701fff660b661bacfd2f324e16eea1",
    },
    shows="id resolved=notes.resolved",
    undo=Undo("resolve", "project_id issue_iid merge_request_iid discussion_id"),
)
class Unresolve(OfThread):
    """Open a settled thread again."""

    async def run(self, gitlab: GitLab) -> Answer:
        return await self.set_resolved(gitlab, False)

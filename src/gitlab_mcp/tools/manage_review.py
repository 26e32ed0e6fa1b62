"""Review merge requests: comment on lines and files, write drafts, submit them together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import POST, PUT, Danger, Role, fill
from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.danger import Risk, equals
from gitlab_mcp.actions.draft_fields import DraftText, find_draft
from gitlab_mcp.actions.entry import Entry
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.fields import (
    Anywhere,
    DiscussionId,
    Expects,
    FilePath,
    Flag,
    FromJson,
    Id,
    Integer,
    Listed,
    NonEmpty,
    SentAs,
    broken_rule,
)
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.quick_actions import as_text, commands_in
from gitlab_mcp.actions.recovery_lookup import RecoveryLookup, begun_with
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.actions.scopes import AtHead, OfMergeRequest
from gitlab_mcp.actions.server import Server
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.undo import Undo
from gitlab_mcp.failures.codes import NoticeCode
from gitlab_mcp.workflows.merge_requests.draft_notes import has_unknown_line
from gitlab_mcp.workflows.merge_requests.review_comments import ReviewComment, with_suggestion
from gitlab_mcp.workflows.merge_requests.review_position import CommentedLines, read_changed_file
from gitlab_mcp.workflows.merge_requests.review_submission import Review, Verdict, refuse_if_moved
from gitlab_mcp.workflows.merge_requests.suggestions import apply_suggestions

manage = Tool(
    "manage_review",
    "Review a merge request: comment on lines, draft, submit.",
    instead={
        "approve": Instead(
            "submit_review",
            {"verdict": "approve"},
            advice="Use action submit_review with verdict=approve, which also "
            "publishes your drafts, or manage_merge_request approve, which only approves.",
        ),
        "unapprove": "manage_merge_request unapprove",
        "request_changes": Instead(
            "submit_review",
            {"verdict": "request_changes"},
            advice="Use action submit_review with verdict=request_changes; it publishes your drafts too.",
        ),
        "comment add_comment": Instead(
            "comment_line",
            advice="Use action comment_line with file_path and line, comment_file with "
            "file_path, or manage_discussion create_note for the merge request as a whole.",
        ),
        "submit publish publish_all finish bulk_publish": "submit_review",
        "inline_comment add_inline_comment line_comment": "comment_line",
        "draft add_draft draft_comment": "create_draft",
        "apply_suggestion apply_suggestions accept_suggestion accept_suggestions batch_apply": "apply",
        "suggest": Instead(
            "comment_line", advice="Use action comment_line with a body that holds a suggestion block."
        ),
    },
)

MR = "/projects/{project_id}/merge_requests/{merge_request_iid}"
EXAMPLE = {"project_id": "acme/shop", "merge_request_iid": 25}

LineNumber = Annotated[Integer, Field(ge=1)]


FIND_THREAD = RecoveryLookup(
    "browse_discussions list", "project_id merge_request_iid", proof=begun_with("body"), every_page=True
)


class Comment(OfMergeRequest):
    """A comment at a place in the diff."""

    file_path: FilePath
    body: DraftText
    draft: Annotated[Flag, Field(description="Keep for submit_review")] | None = None

    @property
    def path(self) -> str:
        return self.request().path.removesuffix("/discussions")

    async def put(self, gitlab: GitLab, position: Mapping[str, Any]) -> Result:
        if not self.draft:
            body = {"body": self.body, "position": position}
            thread = (await gitlab.send(Request("POST", f"{self.path}/discussions", body=body))).body
            return Result(data={"discussion_id": thread["id"], "note_id": thread["notes"][0]["id"]})
        body = {"note": self.body, "position": position}
        draft = (await gitlab.send(Request("POST", f"{self.path}/draft_notes", body=body))).body
        message = "GitLab took the draft and does not find its line: delete it, it would be lost."
        warnings = [Notice(NoticeCode.NOT_APPLIED, message)] if has_unknown_line(draft) else []
        return Result(data={"draft_note_id": draft["id"]}, warnings=warnings)


@manage.action(
    "comment_line",
    POST(f"{MR}/discussions"),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "file_path": "src/shop/cart.py", "line": 27, "body": "Replay: added."},
    recover_with=FIND_THREAD,
    seldom_given="old_start_line",
    not_taken={
        "end_line": "line is the last line of several, start_line the first",
        "position": "the position is worked out: send file_path and line, or old_line for a removed line",
        "side": "line is a line as it is now, old_line a removed line",
    },
    undo=Undo("manage_discussion delete_note", "project_id merge_request_iid", "note_id"),
)
class CommentLine(Comment):
    """Comment on a line of a changed file, or on several; the position is worked out from the diff."""

    line: Annotated[LineNumber, Field(description="As it is now")] | None = None
    old_line: LineNumber | None = None
    start_line: LineNumber | None = None
    old_start_line: LineNumber | None = None

    @model_validator(mode="after")
    def _a_line(self) -> Self:
        if self.line is None and self.old_line is None:
            raise broken_rule("a line number, or old_line for a removed line", field="line")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        file = await read_changed_file(gitlab, self.path, self.file_path)
        commented = CommentedLines(self.line, self.old_line, self.start_line, self.old_start_line)
        position, line = await file.line_position(gitlab, commented)
        result = await self.put(gitlab, position)
        return Result(data={**result.data, "line_is": line.kind, **line.numbers}, warnings=result.warnings)


@manage.action(
    "comment_file",
    POST(f"{MR}/discussions"),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "file_path": "src/shop/returns.py", "body": "Replay: file."},
    recover_with=FIND_THREAD,
    undo=Undo("manage_discussion delete_note", "project_id merge_request_iid", "note_id"),
)
class CommentFile(Comment):
    """Comment on a changed file as a whole: also renamed, binary and very large ones."""

    async def run(self, gitlab: GitLab) -> Result:
        return await self.put(
            gitlab, (await read_changed_file(gitlab, self.path, self.file_path)).file_position
        )


@manage.action(
    "create_draft",
    POST(f"{MR}/draft_notes"),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "body": "Draft: overall fine."},
    shows="draft_note_id=id",
    recover_with=find_draft("a draft says neither who wrote it nor when"),
    seldom_given="resolve_discussion",
    undo=Undo("manage_draft delete_draft", "project_id merge_request_iid", "draft_note_id=id"),
)
class CreateDraft(OfMergeRequest):
    """Write a draft on the merge request as a whole, or as an answer in a thread."""

    body: Annotated[DraftText, SentAs("note")]
    discussion_id: Annotated[DiscussionId, SentAs("in_reply_to_discussion_id")] | None = None
    resolve_discussion: Flag | None = None

    @model_validator(mode="after")
    def _resolves_a_thread(self) -> Self:
        if self.resolve_discussion and self.discussion_id is None:
            raise broken_rule("the thread that is to be resolved", field="discussion_id")
        return self


@manage.action(
    "apply",
    PUT("/suggestions/batch_apply"),
    danger=Danger.REVERSIBLE,
    example={"project_id": "writes/app", "merge_request_iid": 1, "suggestion_ids": [5, 6]},
    role=Role.DEVELOPER,
    repeatable=False,
    recover_with=RecoveryLookup(
        "browse_discussions list",
        "project_id merge_request_iid",
        because="before 19.3 GitLab does not show which suggestions are applied",
    ),
    has_line=True,
)
class ApplySuggestions(OfMergeRequest):
    """Commit suggestions to the source branch; the only open one needs no id. Threads show their ids since GitLab 19.3,
    before that only its pages."""

    suggestion_ids: (
        Annotated[
            list[Annotated[Id, Anywhere("suggestion")]],
            Listed,
            Field(min_length=1, max_length=100),
            Expects("an array of numbers"),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.suggestion_ids or ())) < len(self.suggestion_ids or ()):
            raise broken_rule("each suggestion once", field="suggestion_ids")
        return self

    async def run(self, gitlab: GitLab) -> Result:
        path = fill(MR, project_id=self.project_id, merge_request_iid=self.merge_request_iid)
        return await apply_suggestions(gitlab, path, self.suggestion_ids)


class InlineComment(Entry):
    """A comment at a place in the diff. Quick actions in it are text."""

    also_called: ClassVar = {
        **dict.fromkeys(("path", "file", "filename", "new_path"), "file_path"),
        **dict.fromkeys(("new_line", "line_number", "end_line"), "line"),
        **dict.fromkeys(("comment", "text", "note", "message"), "body"),
    }

    file_path: NonEmpty
    line: LineNumber | None = None
    old_line: LineNumber | None = None
    start_line: LineNumber | None = None
    old_start_line: LineNumber | None = None
    body: str | None = None
    suggestion: str | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if not (self.body or "").strip() and self.suggestion is None:
            raise broken_rule("text that is not empty, or a suggestion", field="comments.body")
        if self.line is None and self.old_line is None and (self.start_line or self.old_start_line):
            raise broken_rule("the last line", field="comments.line")
        if self.suggestion is None:
            return self
        if self.line is None or self.old_start_line is not None:
            raise broken_rule("lines as they are now, for a suggestion", field="comments.line")
        if "```" in self.suggestion and commands_in(self.suggestion):
            # Not every GitLab sees that such a block is code.
            raise broken_rule("code without both ``` and lines like /close", field="comments.suggestion")
        return self

    def as_comment(self) -> ReviewComment:
        text = as_text(self.body or "")
        if self.suggestion is not None and self.line is not None:
            text = with_suggestion(text, self.suggestion, self.line - (self.start_line or self.line))
        lines = CommentedLines(self.line, self.old_line, self.start_line, self.old_start_line)
        return ReviewComment(self.file_path, text, None if lines == CommentedLines() else lines)


@manage.action(
    "submit_review",
    POST(f"{MR}/draft_notes/bulk_publish"),
    danger=Danger.REVERSIBLE,
    example={**EXAMPLE, "verdict": "approve", "sha": "e9a02b999ff53785a56eb6a4807765f8d29dd38d"},
    recover_with=find_draft("GitLab may have published some and kept the drafts"),
    has_line=True,
    seldom_given="comments",
)
class SubmitReview(AtHead):
    """Publish your drafts and comments (each as for comment_line) at once or none; body sums up, verdict judges.

    A comment without a line is on its file as a whole; with suggestion, code to put in place of its lines.
    """

    comments: (
        Annotated[
            list[InlineComment], FromJson, Field(min_length=1, max_length=100), Expects("an array of objects")
        ]
        | None
    ) = None
    body: DraftText | None = None
    verdict: (
        Annotated[
            Verdict,
            Risk(
                Danger.DESTRUCTIVE,
                "approve",
                "you vouch for the change, which can let the merge through",
                equals("approve"),
            ),
        ]
        | None
    ) = None

    async def pinned(self, ask: Ask) -> Self:
        return await super().pinned(ask) if self.verdict == "approve" else self

    async def run_with(self, server: Server) -> Result:
        path = self.request().path.removesuffix("/draft_notes/bulk_publish")
        if self.sha is not None and self.verdict != "approve":
            # GitLab looks at it only for an approval.
            await refuse_if_moved(server.gitlab, path, self.sha)
        comments = [comment.as_comment() for comment in self.comments or ()]
        return await Review(server.gitlab, path).submit(
            self.body, self.verdict, self.sha, server.ask, comments
        )

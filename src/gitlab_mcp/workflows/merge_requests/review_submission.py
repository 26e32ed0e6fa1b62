"""Submits a review: checks its drafts, publishes them once, and checks that they were published."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.fields import FULL_SHA
from gitlab_mcp.actions.result import Notice, Result
from gitlab_mcp.api.versions import is_in
from gitlab_mcp.failures.codes import Code, NoticeCode
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.gitlab.concurrently import answered, concurrently
from gitlab_mcp.gitlab.faults import FAULTS, BadAnswer, Refused, Unreachable, may_have_happened
from gitlab_mcp.gitlab.paging import every_page
from gitlab_mcp.refusals.alternatives import call
from gitlab_mcp.refusals.case import merge_request_of
from gitlab_mcp.workflows.merge_requests.draft_notes import (
    Json,
    find_published,
    unpublished,
    why_not_publishable,
)
from gitlab_mcp.workflows.merge_requests.review_comments import (
    ReviewComment,
    draft_comments,
    placed,
    take_back,
)
from gitlab_mcp.workflows.merge_requests.review_position import read_changed_files

Verdict = Literal["approve", "request_changes"]

_AT_ONCE_SINCE = "19.3"
"""From here on GitLab publishes drafts together with a summary and the state of the review."""
_FEW_DRAFTS = 10
_LARGEST_PAGE = 100


@dataclass(frozen=True, slots=True)
class Review:
    """The caller's review of the merge request at `path`. All that can be refused comes before publishing."""

    gitlab: GitLab
    path: str

    async def submit(
        self,
        body: str | None,
        verdict: Verdict | None,
        sha: str | None,
        ask: Ask,
        comments: Sequence[ReviewComment] = (),
    ) -> Result:
        if comments:
            return await self._submit_with(comments, body, verdict, sha, ask)
        drafts = await self.drafts()
        if not drafts and not body and not verdict:
            raise CallFailed(_nothing_to_submit())
        before = await self._notes(len(drafts)) if drafts else []
        await self._check(drafts, before)
        return await self._with_urls(await self._submit(drafts, before, body, verdict, sha, ask), ask)

    async def _submit_with(
        self,
        comments: Sequence[ReviewComment],
        body: str | None,
        verdict: Verdict | None,
        sha: str | None,
        ask: Ask,
    ) -> Result:
        """The comments become drafts first, which are taken back where nothing is published."""
        expected = _FEW_DRAFTS + len(comments)
        reads: list[Callable[[], Awaitable[Any]]] = [
            self.drafts,
            lambda: self._notes(expected),
            lambda: read_changed_files(self.gitlab, self.path),
            lambda: self.gitlab.get("/user"),
        ]
        drafts, before, changed, user = map(answered, await concurrently(reads))
        if len(drafts) > _FEW_DRAFTS:
            before = await self._notes(len(drafts) + len(comments))
        await self._check(drafts, before)
        wanted = await placed(self.gitlab, changed, comments, user.body["id"])
        made = await draft_comments(self.gitlab, self.path, wanted, drafts, before)
        try:
            submitted = await self._submit([*drafts, *made], before, body, verdict, sha, ask)
        except (CallFailed, *FAULTS) as failed:
            if isinstance(failed, CallFailed) or not _may_have_been_done(failed):
                await take_back(self.gitlab, self.path, wanted, drafts)
            raise
        return await self._with_urls(submitted, ask)

    async def _submit(
        self,
        drafts: Sequence[Json],
        before: list[Json],
        body: str | None,
        verdict: Verdict | None,
        sha: str | None,
        ask: Ask,
    ) -> Result:
        data: dict[str, Any] = {}
        if verdict == "approve":
            data["verdict"] = await self._approve(sha)
        if drafts and (body or verdict == "request_changes") and await _publishes_all_at_once(ask):
            return await self._submit_at_once(drafts, before, body, verdict, data)
        if verdict == "request_changes":
            data["verdict"] = await self._request_changes(drafts)
        warnings: list[Notice] = []
        if drafts:
            data |= await self._publish(drafts, before, warnings, has_verdict=verdict is not None)
        if body and not warnings:
            data |= await self._write_summary(body, warnings)
        return Result(data=data, warnings=warnings)

    async def _submit_at_once(
        self,
        drafts: Sequence[Json],
        before: list[Json],
        body: str | None,
        verdict: Verdict | None,
        data: dict[str, Any],
    ) -> Result:
        """The drafts, the summary and the state of the review in one request; then a look at what came of each."""
        me = drafts[0]["author_id"]
        sent: dict[str, Any] = {"note": body} if body else {}
        if verdict == "request_changes":
            sent["reviewer_state"] = "requested_changes"
            reviewers = await self._reviewers()
            if me not in reviewers:
                raise CallFailed(
                    _changes_not_requested(me, self.path, is_reviewer=False, others=list(reviewers))
                )
        warnings: list[Notice] = []
        data |= await self._publish(drafts, before, warnings, has_verdict=verdict == "approve", sent=sent)
        if body and not warnings:
            data |= await self._summary(me, body, before, warnings)
        if verdict == "request_changes":
            try:
                state = (await self._reviewers()).get(me)
            except FAULTS:
                warnings.append(Notice(NoticeCode.PARTIAL, "Whether changes are requested was not read."))
            else:
                if state == "requested_changes":
                    data = {"verdict": "changes requested", **data}
                else:
                    message = "The drafts are published; that changes are requested, GitLab did not keep."
                    warnings.append(Notice(NoticeCode.NOT_APPLIED, message, {"field": "verdict"}))
        return Result(data=data, warnings=warnings)

    async def _summary(self, author: int, body: str, before: list[Json], warnings: list[Notice]) -> Json:
        """The note that the summary became; it is written now where it came to nothing."""
        try:
            notes = _new_notes(await self._notes(1), before)
        except FAULTS:
            return {}
        wanted = {"note": body, "author_id": author}
        if unpublished([wanted], notes):
            return await self._write_summary(body, warnings)
        note = find_published(wanted, notes)
        return {"note_id": note["id"]} if note else {}

    async def publish(self, draft_note_id: int) -> Result:
        drafts = [draft for draft in await self.drafts() if draft["id"] == draft_note_id]
        if not drafts:
            raise CallFailed(_no_such_draft())
        before = await self._notes(1)
        await self._check(drafts, before)
        await self.gitlab.send(Request("PUT", f"{self.path}/draft_notes/{draft_note_id}/publish"))
        warnings: list[Notice] = []
        return Result(data=await self._count_published(drafts, before, warnings), warnings=warnings)

    async def drafts(self) -> list[Json]:
        """The caller's own drafts. GitLab shows no others, and does not page this list."""
        return list((await self.gitlab.get(f"{self.path}/draft_notes")).body)

    async def _notes(self, draft_count: int) -> list[Json]:
        """The newest notes: more than the drafts can become."""
        query: dict[str, Any] = {"sort": "desc", "order_by": "created_at"}
        if draft_count > _FEW_DRAFTS:
            query["per_page"] = _LARGEST_PAGE
        path = f"{self.path}/notes"
        if draft_count > _LARGEST_PAGE // 2:
            return list((await every_page(self.gitlab, path, **query)).body)
        return list((await self.gitlab.get(path, **query)).body)

    async def _check(self, drafts: Sequence[Json], notes: Sequence[Json]) -> None:
        reasons = {}
        for draft in drafts:
            if why := why_not_publishable(draft) or await self._why_already_published(draft, notes):
                reasons[draft["id"]] = why
        if reasons:
            raise CallFailed(_not_publishable(reasons))

    async def _why_already_published(self, draft: Json, notes: Sequence[Json]) -> str | None:
        """GitLab keeps drafts that it published before it failed."""
        note = find_published(draft, notes)
        if note is not None and draft.get("discussion_id"):
            # The same text, such as "Done.", may stand in other threads.
            thread = await self.gitlab.get(f"{self.path}/discussions/{draft['discussion_id']}")
            note = find_published(draft, thread.body["notes"])
        return f"it is published already, as note {note['id']}" if note else None

    async def _publish(
        self,
        drafts: Sequence[Json],
        before: list[Json],
        warnings: list[Notice],
        *,
        has_verdict: bool,
        sent: Json | None = None,
    ) -> Json:
        """With `has_verdict` the verdict is given already, so a failure to publish becomes a warning."""
        try:
            await self.gitlab.send(Request("POST", f"{self.path}/draft_notes/bulk_publish", body=sent))
        except (Refused, Unreachable, BadAnswer) as fault:
            # GitLab may answer 500 after it published some. Those stay drafts, and must not be sent again.
            if not (may_have_happened(fault) or (isinstance(fault, Refused) and fault.status >= 500)):
                raise
            try:
                after = await self._notes(len(drafts))
            except FAULTS:
                raise fault from None
            missing = unpublished(drafts, _new_notes(after, before))
            if len(missing) == len(drafts) and not has_verdict:
                raise
            warnings.append(_partly_published(drafts, missing))
            return {"published": len(drafts) - len(missing)}
        return await self._count_published(drafts, before, warnings)

    async def _count_published(
        self, drafts: Sequence[Json], before: list[Json], warnings: list[Notice]
    ) -> Json:
        """Look for the published notes: GitLab answers 204 also for drafts that it drops."""
        try:
            after = await self._notes(len(drafts))
        except FAULTS:
            warnings.append(
                Notice(NoticeCode.PARTIAL, "They were published; whether all arrived was not read.")
            )
            return {"published": len(drafts)}
        new = _new_notes(after, before)
        lost = unpublished(drafts, new)
        if lost:
            facts = {"lost": [{"draft_note_id": draft["id"], "body": draft["note"]} for draft in lost]}
            warnings.append(
                Notice(NoticeCode.NOT_APPLIED, "GitLab said yes and dropped some: write them again.", facts)
            )
        found = {note["id"]: note for draft in drafts if (note := find_published(draft, new)) is not None}
        notes = {"notes": [_place_of(found[number]) for number in sorted(found)]} if found else {}
        return {"published": len(drafts) - len(lost), **notes}

    async def _with_urls(self, result: Result, ask: Ask) -> Result:
        """The result with the page of each note, where the path of the project is known."""
        notes = result.data.get("notes")
        project, iid = merge_request_of(self.path) or ("", "0")
        if not notes or not project:
            return result
        if project.isdecimal():
            found = await ask.project(project)
            project = str((found or {}).get("path_with_namespace") or "")
        if not project:
            return result
        page = f"{self.gitlab.base_url}/{project}/-/merge_requests/{iid}"
        told = [{**note, "web_url": f"{page}#note_{note['note_id']}"} for note in notes]
        return replace(result, data={**result.data, "notes": told})

    async def _approve(self, sha: str | None) -> str:
        # GitLab answers a second approval with 401, as if the token were bad.
        if (await self.gitlab.get(f"{self.path}/approvals")).body.get("user_has_approved"):
            return "approved already"
        await self.gitlab.send(Request("POST", f"{self.path}/approve", body={"sha": sha} if sha else {}))
        return "approved"

    async def _request_changes(self, drafts: Sequence[Json]) -> str:
        """Sends a quick action, since REST has nothing else. Its answer does not say whether it had an effect."""
        await self.gitlab.send(Request("POST", f"{self.path}/notes", body={"body": "/request_changes"}))
        me = drafts[0]["author_id"] if drafts else (await self.gitlab.get("/user")).body["id"]
        reviewers = await self._reviewers()
        if reviewers.get(me) == "requested_changes":
            return "changes requested"
        others = list(reviewers)
        raise CallFailed(_changes_not_requested(me, self.path, is_reviewer=me in reviewers, others=others))

    async def _reviewers(self) -> dict[int, str]:
        """The state of each one's review."""
        reviewers: Sequence[Json] = (await self.gitlab.get(f"{self.path}/reviewers")).body
        return {reviewer["user"]["id"]: reviewer["state"] for reviewer in reviewers}

    async def _write_summary(self, body: str, warnings: list[Notice]) -> Json:
        try:
            answer = await self.gitlab.send(Request("POST", f"{self.path}/notes", body={"body": body}))
        except FAULTS:
            message = "The rest is done; the summary was not written, or its answer was lost."
            how = "browse_discussions list_notes, then manage_discussion create_note"
            warnings.append(Notice(NoticeCode.PARTIAL, message, {"not_done": "body", "look_with": how}))
            return {}
        return (
            {"note_id": answer.body["id"]} if "id" in answer.body else {"summary": answer.body.get("summary")}
        )


async def refuse_if_moved(gitlab: GitLab, path: str, sha: str) -> None:
    """Refuses a review of another commit than the one that the source branch of the merge request ends with."""
    head = (await gitlab.get(path)).body["sha"]
    if head != sha:
        raise CallFailed(_moved(head))


def _moved(head: object) -> Failure:
    known = {"head_sha": head} if isinstance(head, str) and FULL_SHA.fullmatch(head) else {}
    return Failure(
        Code.CONFLICT, "The source branch ends with another commit. Nothing was published."
    ).knowing(
        state="another head",
        confidence="certain",
        evidence=["the merge request has another sha than the one that was sent"],
        suggested_fix="Look at what came since (browse_merge_requests diffs), then send it with head_sha as sha.",
        **known,
    )


async def _publishes_all_at_once(ask: Ask) -> bool:
    version = (await ask.instance()).version
    return version is not None and is_in(version, since=_AT_ONCE_SINCE) is True


def _place_of(note: Json) -> dict[str, Any]:
    position = note.get("position") or {}
    place = {
        "file_path": position.get("new_path"),
        "line": position.get("new_line"),
        "old_line": position.get("old_line") if position.get("new_line") is None else None,
    }
    return {"note_id": note["id"], **{name: value for name, value in place.items() if value is not None}}


def _may_have_been_done(fault: Exception) -> bool:
    """Of what is no refusal of GitLab's, nobody knows."""
    return not isinstance(fault, Refused) or may_have_happened(fault)


def _new_notes(after: list[Json], before: list[Json]) -> list[Json]:
    known = max((note["id"] for note in before), default=0)
    return [note for note in after if note["id"] > known]


def _not_publishable(reasons: Mapping[int, str]) -> Failure:
    message = "Nothing was published: some drafts would be lost, doubled or break the others."
    return Failure(Code.CONFLICT, message).knowing(
        state="drafts that cannot be published",
        confidence="certain",
        evidence=[f"draft {number}: {why}" for number, why in reasons.items()],
        suggested_fix="Remove each with manage_draft delete_draft, and where its remark is still wanted write it"
        " again with comment_line; then submit.",
    )


def _partly_published(drafts: Sequence[Json], missing: Sequence[Json]) -> Notice:
    left = [draft["id"] for draft in missing]
    done = [draft["id"] for draft in drafts if draft["id"] not in left]
    message = "GitLab failed on the way: what it published may be among the drafts still."
    next_step = "Before you submit again, delete_draft those that are published and mend the others."
    return Notice(NoticeCode.PARTIAL, message, {"published": done, "not_published": left, "next": next_step})


def _nothing_to_submit() -> Failure:
    return Failure(
        Code.CONFLICT, "You have no drafts on this merge request, and gave no body and no verdict."
    ).knowing(
        state="no drafts",
        confidence="certain",
        evidence=["the list of your drafts is empty"],
        suggested_fix="Write drafts with comment_line and draft: true, or give a body or a verdict.",
    )


def _no_such_draft() -> Failure:
    return Failure(Code.NOT_FOUND, "You have no such draft on this merge request.").knowing(
        missing="draft_note_id",
        confidence="certain",
        evidence=["the list of your drafts does not name it"],
        suggested_fix="Take an id from browse_discussions list_drafts.",
    )


def _changes_not_requested(me: int, path: str, *, is_reviewer: bool, others: Sequence[int]) -> Failure:
    """What helps depends on who reviews it already. To review beside others is offered where the tier has it."""
    failure = Failure(Code.CONFLICT, "GitLab did not request changes, and nothing was published.")
    comment = "Submit again without a verdict and say in body what must change."
    if is_reviewer:
        return failure.knowing(
            state="no effect",
            confidence="likely",
            evidence=["you are a reviewer, and your review does not say that changes are requested"],
            suggested_fix=comment,
            retryable=False,
        )
    project, iid = merge_request_of(path) or ("", "0")
    arguments = {"project_id": project, "merge_request_iid": int(iid), "reviewer_ids": [*others, me]}
    beside = call("manage_merge_request update", arguments, "Makes you a reviewer. Then submit again.")
    fix = comment if others else "Add yourself as a reviewer, as in alternatives, then submit again."
    return failure.knowing(
        alternatives=[beside],
        state="not a reviewer",
        confidence="likely",
        evidence=["you are not among the reviewers"],
        suggested_fix=fix,
        retryable=False,
    )

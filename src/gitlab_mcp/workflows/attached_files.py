"""Texts with files: each file is uploaded, and what shows it is put at the end of the text, in one call."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from gitlab_mcp.actions.exchange import Answer
from gitlab_mcp.actions.fields import AlsoCalled, NotSent
from gitlab_mcp.actions.result import Result
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.sent_files import FileFields
from gitlab_mcp.actions.server import Server
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.workflows.steps import require_steps, take

UPLOAD: Final = "manage_upload create"
CALLED: Final = ("attached_file", "attachment", "file", "files", "image", "images", "screenshot", "upload")


class WithFiles(InProject):
    """Writes a text in which files can be shown."""

    text_field: ClassVar = "body"

    attached_files: (
        Annotated[
            FileFields,
            NotSent(),
            AlsoCalled(*CALLED),
            Field(description="Each filename and content, or path"),
        ]
        | None
    ) = None

    async def run_with(self, server: Server) -> Answer | Result:
        if not self.attached_files:
            return await super().run_with(server)
        require_steps(server, UPLOAD)
        parts = [getattr(self, self.text_field) or ""]
        for file in self.attached_files:
            arguments: dict[str, Any] = {
                "project_id": self.project_id,
                "attached_file": file.model_dump(exclude_unset=True),
            }
            shown = (await take(server, UPLOAD, arguments)).get("markdown")
            if not isinstance(shown, str):
                raise CallFailed(_not_shown())
            parts.append(shown)
        text = "\n\n".join(filter(None, parts))
        return await self.model_copy(update={self.text_field: text, "attached_files": None}).run(
            server.gitlab
        )


def _not_shown() -> Failure:
    message = "GitLab took the file, and did not say how a text shows it. The text was not written."
    fix = "browse_uploads list shows what is uploaded; write the text without the file."
    return Failure(Code.BAD_RESPONSE, message).knowing(suggested_fix=fix, retryable=False)

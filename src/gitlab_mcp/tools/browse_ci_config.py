"""CI/CD configuration: whether it is valid, what it is with its includes, and what would run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from gitlab_mcp.actions.action import GET, POST, Endpoint, fill
from gitlab_mcp.actions.exchange import GitLab, Request
from gitlab_mcp.actions.fields import AlsoCalled, NonEmpty, Ref, broken_rule
from gitlab_mcp.actions.other_names import Instead
from gitlab_mcp.actions.result import Result, Text
from gitlab_mcp.actions.scopes import InProject
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.results.shown_fields import pick_fields, shown_fields

browse = Tool(
    "browse_ci_config",
    "Check .gitlab-ci.yml, or a draft of it; read it with its includes; see which jobs would run.",
    toolset="ci",
    also=("ci_lint", "gitlab_ci_yml", "ci_yaml", "pipeline_config", "ci_configuration", "yaml"),
    instead={
        "validate check verify validate_yaml get": "lint",
        "merged_yaml expand expanded includes full": "merged",
        "dry_run simulate what_runs preview list_jobs": "jobs",
        "templates list_templates": Instead("browse_instance_details templates", {"type": "gitlab_ci_ymls"}),
        "template get_template": Instead(
            "browse_instance_details template", {"type": "gitlab_ci_ymls"}, needs=("name",)
        ),
    },
)

LINT = "/projects/{project_id}/ci/lint"
PARTS: Final = shown_fields("valid errors warnings includes(type location)")
JOB: Final = shown_fields("name stage when allow_failure environment tag_list needs")
NO_CONTENT: Final = "Please provide content of .gitlab-ci.yml"
NO_REF: Final = "Reference not found"


class Linted(InProject):
    """The configuration that the project has at a ref, or the one that is given."""

    content: (
        Annotated[NonEmpty, AlsoCalled("yaml", "config", "ci_config"), Field(description="A draft to check")]
        | None
    ) = None
    ref: Ref | None = None

    def lint(self, **options: Any) -> Request:
        path = fill(LINT, project_id=self.project_id)
        if self.content is None:
            at = {"content_ref": self.ref} if self.ref is not None else {}
            return Request("GET", path, query={**at, **options}, repeatable=True, route=LINT)
        body = {"content": self.content, **({"ref": self.ref} if self.ref is not None else {}), **options}
        return Request("POST", path, body=body, repeatable=True, route=LINT)

    def endpoint(self) -> Endpoint:
        return self.spec.endpoints[0 if self.content is None else 1]

    def linted(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What was found. That something is invalid is an answer, and no failure."""
        found: dict[str, Any] = {"valid": answer["valid"], **pick_fields(answer, PARTS.alone)}
        if self.content is None and NO_CONTENT in (answer.get("errors") or ()):
            found["file"] = "not there, or empty"
        return found


class StaticallyLinted(Linted):
    @model_validator(mode="after")
    def _a_draft_has_no_ref(self) -> Self:
        # GitLab takes it, and ignores it.
        if self.content is not None and self.ref is not None:
            raise broken_rule("left out with content: only jobs takes both", field="ref")
        return self


@browse.action(
    "lint",
    (*GET(LINT), *POST(LINT)),
    example={"project_id": "writes/sub-one/second-renamed"},
    lists=False,
)
class Lint(StaticallyLinted):
    """Say whether the configuration of a ref, or a draft, is valid, with its errors and warnings."""

    async def run(self, gitlab: GitLab) -> Result:
        return Result(data=self.linted((await gitlab.send(self.lint())).body))


@browse.action(
    "merged",
    (*GET(LINT), *POST(LINT)),
    example={"project_id": "writes/sub-one/second-renamed"},
    lists=False,
)
class Merged(StaticallyLinted):
    """Read the configuration with all its includes put in."""

    async def run(self, gitlab: GitLab) -> Result:
        answer = (await gitlab.send(self.lint())).body
        merged = answer.get("merged_yaml")
        text = Text(merged, "the merged CI/CD configuration") if isinstance(merged, str) else None
        return Result(data=self.linted(answer), text=text)


@browse.action(
    "jobs",
    (*GET(LINT), *POST(LINT)),
    example={"project_id": "writes/app", "ref": "main"},
    lists=False,
)
class JobsThatWouldRun(Linted):
    """Say whether it is valid, and which jobs a push to a branch or tag would run; nothing is started."""

    async def run(self, gitlab: GitLab) -> Result:
        options: dict[str, Any] = {"dry_run": True, "include_jobs": True}
        if self.content is None and self.ref is not None:
            options["dry_run_ref"] = self.ref
        answer = (await gitlab.send(self.lint(**options))).body
        if NO_REF in (answer.get("errors") or ()):
            raise CallFailed(_no_such_ref(self))
        jobs = [pick_fields(job, JOB.in_a_list) for job in answer.get("jobs") or ()]
        return Result(data={**self.linted(answer), "jobs": jobs})


def _no_such_ref(action: Linted) -> Failure:
    return Failure(
        Code.NOT_FOUND, "The project has no such branch or tag: what would run cannot be told."
    ).knowing(
        missing="ref",
        confidence="certain",
        evidence=["GitLab did not find the ref that the pipeline would be for"],
        suggested_fix="Look it up with browse_branches list or browse_tags list; a commit will not do here.",
        alternatives=[
            {
                "action": "browse_branches list",
                "arguments": {"project_id": action.project_id},
                "description": "lists the branches",
                "available_on": "Free",
            }
        ],
        retryable=False,
    )

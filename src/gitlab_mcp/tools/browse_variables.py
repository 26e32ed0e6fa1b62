"""CI/CD variables, without their values."""

from __future__ import annotations

from gitlab_mcp.actions.action import GET, Action
from gitlab_mcp.actions.exchange import Answer, GitLab
from gitlab_mcp.actions.scopes import InProjectOrGroup, Paged
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.workflows.variable_scopes import OfVariable, VariableKey, one_of_its_scopes

browse = Tool(
    "browse_variables",
    "Read CI/CD variables of a project, a group or the instance; values are kept back.",
    toolset="ci",
    also=("ci_variable", "secret", "env", "environment_variable"),
    instead={"show_value value reveal": "manage_variable show_value"},
)

VARIABLE = "key variable_type environment_scope protected:mark masked:mark hidden:mark raw:mark description"
NO_VALUES = dict.fromkeys(
    ("show_values", "show_value"), "values are kept back; manage_variable show_value shows one"
)


@browse.action(
    "list",
    GET("/projects/{project_id}/variables", "/groups/{group_id}/variables"),
    example={"project_id": "acme/website"},
    shows=VARIABLE,
    not_taken=NO_VALUES,
)
class ListVariables(InProjectOrGroup, Paged):
    """List those that are set right here; jobs get those of the groups above, too."""


@browse.action(
    "get",
    GET("/projects/{project_id}/variables/{key}", "/groups/{group_id}/variables/{key}"),
    example={"project_id": "acme/website", "key": "PLAIN"},
    shows=VARIABLE,
    not_taken=NO_VALUES,
)
class GetVariable(OfVariable):
    """Read one variable, without its value."""

    async def run(self, gitlab: GitLab) -> Answer:
        return await one_of_its_scopes(self, gitlab)


@browse.action(
    "list_instance",
    GET("/admin/ci/variables"),
    example={},
    shows=VARIABLE,
)
class ListInstanceVariables(Paged):
    """List the variables of the whole instance."""


@browse.action(
    "get_instance",
    GET("/admin/ci/variables/{key}"),
    example={"key": "INSTANCE_KEY"},
    shows=VARIABLE,
)
class GetInstanceVariable(Action):
    """Read one variable of the whole instance."""

    key: VariableKey

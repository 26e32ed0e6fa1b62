"""The tools and prompts that the conformance suite calls, beside those of the real server.

The suite says what they are named and what they answer. They bring no capability that the real server lacks: what it
does not offer (resources, logging, completion) is not offered here.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    Prompt,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
)

from gitlab_mcp.protocol.server import GitLabServer

Asked = Context[None, Any]
Answer = CallToolResult | InputRequiredResult

_DESCRIPTION: Final = "For the conformance suite."
_PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _image() -> ImageContent:
    return ImageContent(type="image", data=_PNG, mime_type="image/png")


def _resource(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


_CONTENT: Final[dict[str, list[ContentBlock]]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_image()],
    "test_audio_content": [AudioContent(type="audio", data=_WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        _image(),
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_logging_tool": [_text("Nothing is logged to a client that did not ask for it.")],
}


def _form(message: str, name: str, kind: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, most: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=_text(text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=most))


_NAME: Final = _form("What is your name?", "name", "string")
_OK: Final = _form("Please confirm", "ok", "boolean")
_QUESTIONS: Final[dict[str, tuple[dict[str, Any], str | None]]] = {
    "test_input_required_result_elicitation": ({"user_name": _NAME}, None),
    "test_streaming_elicitation": ({"user_name": _NAME}, None),
    "test_input_required_result_sampling": (
        {"capital_question": _sample("What is the capital of France?", 100)},
        None,
    ),
    "test_input_required_result_list_roots": ({"client_roots": ListRootsRequest()}, None),
    "test_input_required_result_request_state": ({"confirm": _OK}, "state-ok"),
    "test_input_required_result_tampered_state": ({"confirm": _OK}, "untouched"),
    "test_input_required_result_multiple_inputs": (
        {
            "user_name": _NAME,
            "greeting": _sample("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        },
        "all-of-them",
    ),
}
"""Tools that ask once: what they ask for, and the state that comes back with the answers."""


class FixtureServer(GitLabServer):
    """The real server, with the suite's tools and prompts after its own."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, content in _CONTENT.items():
            _add_answer(self, name, content)
        for name, (questions, state) in _QUESTIONS.items():
            _add_question(self, name, questions, state)
        for tool in (
            test_error_handling,
            test_tool_with_progress,
            test_missing_capability,
            test_input_required_result_multi_round,
            test_input_required_result_capabilities,
        ):
            self.add_tool(tool, description=_DESCRIPTION, structured_output=False)
        for prompt in (
            test_simple_prompt,
            test_prompt_with_arguments,
            test_prompt_with_embedded_resource,
            test_prompt_with_image,
            test_input_required_result_prompt,
        ):
            self.prompt(description=_DESCRIPTION)(prompt)

    async def list_tools(self) -> list[Tool]:
        return [*await super().list_tools(), *await MCPServer.list_tools(self)]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Asked | None = None
    ) -> CallToolResult | InputRequiredResult:
        return await MCPServer.call_tool(self, name, arguments, context)

    async def _answer_call(
        self, context: ServerRequestContext[None, Any] | None, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if context is not None and params.name in {tool.name for tool in await MCPServer.list_tools(self)}:
            return await self._handle_call_tool(context, params)
        return await super()._answer_call(context, params)

    async def list_prompts(self) -> list[Prompt]:
        return [*await super().list_prompts(), *await MCPServer.list_prompts(self)]

    async def get_prompt(  # type: ignore[override]
        self, name: str, arguments: dict[str, Any] | None = None, context: Asked | None = None
    ) -> GetPromptResult | InputRequiredResult:
        if name in {prompt.name for prompt in await MCPServer.list_prompts(self)}:
            return await MCPServer.get_prompt(self, name, arguments, context)
        return await super().get_prompt(name, arguments, context)


def _add_answer(server: MCPServer[None], name: str, content: list[ContentBlock]) -> None:
    def answer() -> CallToolResult:
        return CallToolResult(content=content)

    server.add_tool(answer, name=name, description=_DESCRIPTION, structured_output=False)


def _add_question(server: MCPServer[None], name: str, questions: dict[str, Any], state: str | None) -> None:
    def ask(context: Asked) -> Answer:
        answers = context.input_responses or {}
        if questions.keys() <= answers.keys():
            return CallToolResult(content=[_text(f"{context.request_state} {answers}")])
        return InputRequiredResult(input_requests=questions, request_state=state)

    server.add_tool(ask, name=name, description=_DESCRIPTION, structured_output=False)


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: Asked) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100)
        await anyio.sleep(0.05)
    return "done"


def test_missing_capability() -> str:
    raise MCPError(
        MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", {"requiredCapabilities": {"sampling": {}}}
    )


def test_input_required_result_multi_round(context: Asked) -> Answer:
    rounds = {
        None: ("step1", _form("Step 1: What is your name?", "name", "string"), "named"),
        "named": ("step2", _form("Step 2: What is your favorite color?", "color", "string"), "coloured"),
    }
    if context.request_state not in rounds:
        return CallToolResult(content=[_text("done")])
    key, question, state = rounds[context.request_state]
    return InputRequiredResult(input_requests={key: question}, request_state=state)


def test_input_required_result_capabilities(context: Asked) -> Answer:
    """Asks only what the client says that it can answer."""
    can = context.client_capabilities
    questions: dict[str, Any] = {}
    if can is not None and can.elicitation is not None:
        questions["user_name"] = _NAME
    if can is not None and can.sampling is not None:
        questions["greeting"] = _sample("Generate a greeting", 50)
    return InputRequiredResult(input_requests=questions, request_state="asked")


def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    resource = _resource(resourceUri, "text/plain", "Embedded resource content for testing.")
    return [
        UserMessage(content=resource),
        UserMessage(content=_text("Please process the embedded resource above.")),
    ]


def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(content=_image()), UserMessage(content=_text("Please analyze the image above."))]


def test_input_required_result_prompt(context: Asked) -> Any:
    if "user_context" in (context.input_responses or {}):
        return "This is the context."
    question = _form("What context should the prompt use?", "context", "string")
    return InputRequiredResult(input_requests={"user_context": question})

"""Chat models behind the two kinds of endpoints there are, by the standard library alone."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SECONDS = 180
MOST_TOKENS = 4096
"""Of one answer."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: Any
    """What the model sent: an object, or whatever else it took for one."""


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    calls: Sequence[ToolCall]
    tokens_read: int
    tokens_written: int


class Conversation(Protocol):
    """One job, told to a model. It keeps what was said."""

    def say(self) -> Turn:
        """What the model says next."""
        ...

    def answer(self, results: Mapping[str, tuple[str, bool]]) -> None:
        """The result of each call by its id: its text, and whether it is an error."""
        ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers, and the key to it."""

    url: str
    key: str = field(repr=False)
    model: str

    def post(self, path: str, body: Json, headers: Mapping[str, str]) -> Json:
        request = urllib.request.Request(
            self.url.rstrip("/") + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", **headers},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            said: Json = json.load(answer)
            return said


class OpenAI:
    """Any endpoint that speaks `/chat/completions`."""

    def __init__(self, endpoint: Endpoint, system: str, job: str, tools: Sequence[Json]) -> None:
        self._endpoint = endpoint
        self._messages: list[Json] = [
            {"role": "system", "content": system},
            {"role": "user", "content": job},
        ]
        self._tools = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool.get("description", ""),
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in tools
        ]

    def say(self) -> Turn:
        body = {"model": self._endpoint.model, "messages": self._messages, "tools": self._tools}
        said = self._endpoint.post(
            "/chat/completions", body, {"Authorization": f"Bearer {self._endpoint.key}"}
        )
        message = said["choices"][0]["message"]
        self._messages.append(message)
        usage = said.get("usage") or {}
        calls = [
            ToolCall(call["id"], call["function"]["name"], _parsed(call["function"]["arguments"]))
            for call in message.get("tool_calls") or ()
        ]
        read, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        return Turn(message.get("content") or "", calls, read, written)

    def answer(self, results: Mapping[str, tuple[str, bool]]) -> None:
        for id, (text, _) in results.items():
            self._messages.append({"role": "tool", "tool_call_id": id, "content": text})


class Anthropic:
    """Any endpoint that speaks `/v1/messages`."""

    def __init__(self, endpoint: Endpoint, system: str, job: str, tools: Sequence[Json]) -> None:
        self._endpoint = endpoint
        self._system = system
        self._messages: list[Json] = [{"role": "user", "content": job}]
        self._tools = [
            {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "input_schema": tool["inputSchema"],
            }
            for tool in tools
        ]

    def say(self) -> Turn:
        body = {
            "model": self._endpoint.model,
            "max_tokens": MOST_TOKENS,
            "system": self._system,
            "messages": self._messages,
            "tools": self._tools,
        }
        headers = {"x-api-key": self._endpoint.key, "anthropic-version": "2023-06-01"}
        said = self._endpoint.post("/v1/messages", body, headers)
        blocks = said["content"]
        self._messages.append({"role": "assistant", "content": blocks})
        usage = said.get("usage") or {}
        read = sum(
            usage.get(name) or 0
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )
        return Turn(
            "\n".join(block["text"] for block in blocks if block["type"] == "text"),
            [
                ToolCall(block["id"], block["name"], block["input"])
                for block in blocks
                if block["type"] == "tool_use"
            ],
            read,
            usage.get("output_tokens", 0),
        )

    def answer(self, results: Mapping[str, tuple[str, bool]]) -> None:
        self._messages.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
                    for id, (text, is_error) in results.items()
                ],
            }
        )


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments

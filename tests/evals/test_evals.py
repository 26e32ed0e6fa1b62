"""The evals run a model's conversation to its end: with a synthetic chat endpoint on loopback in place of a model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from evals.__main__ import main
from evals.attempts import CHECKED

Json = dict[str, Any]
Say = Callable[[Json], Json]


class Endpoint:
    """Answers each turn with what `say` makes of it. Keeps what it was sent."""

    def __init__(self) -> None:
        self.say: Say = lambda sent: {}
        self.heard: list[Json] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.heard.append({"path": self.path, "headers": dict(self.headers), **sent})
                body = json.dumps(endpoint.say(sent)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    model = Endpoint()
    thread = threading.Thread(target=model.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield model
    model.server.shutdown()
    model.server.server_close()
    thread.join()


MARK_READY = {
    "action": "update",
    "project_id": "acme/shop",
    "merge_request_iid": 19,
    "draft": False,
}


def openai(sent: Json) -> Json:
    """Marks !19 as ready, after one call with a word too many."""
    turn = sum(message["role"] == "assistant" for message in sent["messages"])
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    if turn == 2:
        return {"choices": [{"message": {"role": "assistant", "content": "Done."}}], "usage": usage}
    arguments = MARK_READY if turn else {**MARK_READY, "no_such_field": 1}
    call = {"name": "manage_merge_request", "arguments": json.dumps(arguments)}
    calls = [{"id": f"call-{turn}", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"message": message}], "usage": usage}


def anthropic(sent: Json) -> Json:
    """Asks who owns a file, and says it."""
    usage = {"input_tokens": 50, "output_tokens": 5, "cache_read_input_tokens": 30}
    if len(sent["messages"]) > 1:
        return {"content": [{"type": "text", "text": "It is alice's."}], "usage": usage}
    asked = {"action": "owners", "project_id": "acme/shop", "file_path": "src/shop/pricing.py"}
    use = {"type": "tool_use", "id": "use-1", "name": "browse_code_owners", "input": asked}
    return {"content": [{"type": "text", "text": "Let me look."}, use], "usage": usage}


def run(endpoint: Endpoint, *words: str) -> int:
    return main(["--model", "synthetic", "--endpoint", endpoint.url, *words])


def test_without_a_key_nothing_is_asked(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert run(endpoint) == 0
    assert capsys.readouterr().out == "Skipped: OPENAI_API_KEY is not set.\n"
    assert endpoint.heard == []


def test_a_job_is_done_and_judged_by_what_it_left(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "synthetic")
    endpoint.say = openai
    run(endpoint, "--jobs", "41")
    _, row, total = capsys.readouterr().out.splitlines()
    assert row.split()[:6] == ["41", "ok", "2", "1", "300", "30"]
    assert "1 of 1 jobs done by synthetic" in total
    first = endpoint.heard[0]
    assert (first["path"], first["headers"]["Authorization"]) == ("/chat/completions", "Bearer synthetic")
    assert {"browse_projects", "manage_merge_request"} <= {
        each["function"]["name"] for each in first["tools"]
    }
    assert "FIELD_NOT_ALLOWED" in endpoint.heard[1]["messages"][-1]["content"]


def test_a_job_is_judged_by_what_the_model_said(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "synthetic")
    endpoint.say = anthropic
    run(endpoint, "--kind", "anthropic", "--jobs", "8,38")
    _, owner, deployed, total = capsys.readouterr().out.splitlines()
    assert owner.split()[:6] == ["8", "ok", "1", "0", "160", "10"]
    assert deployed.split()[:2] == ["38", "FAIL"] and "not said: ['e2c01d71']" in deployed
    assert "1 of 2 jobs" in total
    assert endpoint.heard[1]["messages"][-1]["content"][0]["type"] == "tool_result"


def test_a_model_that_goes_on_and_on_is_stopped(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "synthetic")
    endpoint.say = lambda sent: openai({"messages": []})
    run(endpoint, "--jobs", "41")
    assert "not done after 20 turns" in capsys.readouterr().out


def test_most_jobs_can_be_judged_whoever_does_them() -> None:
    assert len(CHECKED) >= 35

"""`gitlab-mcp policy check` and `explain`, as a person runs them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import command
from tests.support.people import with_people
from tests.support.served import environment
from tests.support.standin import StandIn

GUIDE = (Path(__file__).parents[2] / "docs/guides/policy.md").read_text("utf-8")
[EXAMPLE] = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
[EXPLAINED] = re.findall(r"<!-- explained -->\n```text\n(.*?)```", GUIDE, re.DOTALL)
[COMMAND] = re.findall(r"^gitlab-mcp (policy explain .*)$", GUIDE, re.MULTILINE)
URL = "https://gitlab.example.com"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "policy.yaml").write_text(EXAMPLE)

    def run(*words: str, gitlab: str = URL, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command(), "policy", *words],
            env={**environment(gitlab), "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8", **more},
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
        )

    return run


def test_the_example_of_the_guide_can_be_used_and_is_explained_as_it_says(run: Run, tmp_path: Path) -> None:
    checked = run("check", "policy.yaml")
    assert (checked.returncode, checked.stderr) == (0, "") and "can be used: 5 rules" in checked.stdout
    explained = run(*COMMAND.split()[1:])
    assert explained.stdout.replace(f"{tmp_path}/", "") == EXPLAINED
    assert explained.returncode == 1


WHERE = "project_id=acme/website"
PAYROLL = "project_id=acme/payroll"


@pytest.mark.parametrize(
    ("words", "verdict", "rule"),
    [
        ("--as alice --group acme manage_branch delete project_id=acme/website", "allowed", "everybody-else"),
        ("--as alice --group acme browse_issues list project_id=acme/payroll", "refused", "everybody-else"),
        ("--as alice --group acme browse_issues list group_id=acme", "refused", "everybody-else"),
        ("--as alice --group acme manage_project delete project_id=acme/x", "refused", "everybody-else"),
        ("--as alice --group acme/team browse_issues list project_id=acme/x", "refused", None),
        ("--as alice --group acme/platform manage_project delete project_id=acme/x", "allowed", "platform"),
        ("--as alice --group ACME/Platform browse_issues list project_id=x/y", "allowed", "platform"),
        ("--as DANA manage_label create project_id=acme/website name=x color=#111111", "refused", "auditors"),
        ("--as dana browse_labels list project_id=acme/website", "allowed", "auditors"),
        ("--as bob --group partners manage_issue create project_id=acme/website", "allowed", "contractors"),
        ("--as bob --group partners manage_issue create project_id=acme/other", "refused", "contractors"),
        ("--as bob --group partners browse_issues list group_id=acme", "refused", "contractors"),
        ("--as bob --group partners browse_runners list project_id=acme/website", "refused", "contractors"),
        ("--as bob --token-kind job manage_job retry project_id=acme/website job_id=1", "allowed", "robots"),
        (
            "--as bob --token-kind job project_badge delete project_id=acme/website badge_id=1",
            "refused",
            "robots",
        ),
        ("--as nobody browse_labels list project_id=acme/website", "refused", None),
    ],
)
def test_a_verdict_names_its_rule(words: str, verdict: str, rule: str | None, run: Run) -> None:
    done = run("explain", "--policy", "policy.yaml", "--json", *words.split())
    told = json.loads(done.stdout)
    assert (told["verdict"], told.get("rule")) == (verdict, rule)
    assert done.returncode == (0 if verdict == "allowed" else 1)


def test_what_would_be_asked_and_counted_is_said(run: Run) -> None:
    words = "--as bob --group partners manage_issue create project_id=acme/website"
    told = json.loads(run("explain", "--policy", "policy.yaml", "--json", *words.split()).stdout)
    assert told["asked"] == "a person must say yes first" and told["quota"] == "50 writes an hour"
    assert told["filled_in"].keys() == {"title"}
    words = "--as alice --group acme/platform manage_project delete project_id=acme/x"
    told = json.loads(run("explain", "--policy", "policy.yaml", "--json", *words.split()).stdout)
    assert told["asked"].endswith("where the client cannot ask its person, it is refused")


@pytest.mark.parametrize("words", ["project_id=42", "project_id=acme/website --only-in 7"])
def test_what_only_gitlab_knows_is_not_guessed(words: str, run: Run) -> None:
    told = run(
        "explain", "--policy", "policy.yaml", "--json", "--as", "bob", "--group", "partners",
        "browse_labels", "list", *words.split(),
    )  # fmt: skip
    assert "no token" in json.loads(told.stdout)["not_told"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("explain --as alice browse_labels list", "There is no policy"),
        ("explain --policy policy.yaml browse_labels list project_id=acme/x", "not said who calls"),
        ("explain --policy policy.yaml --as alice browse_labels", "not said which call"),
        ("explain --policy policy.yaml --as alice manage_project delete", "Add project_id"),
        ("explain --policy policy.yaml --as alice --token-kind persnal browse_labels list", "personal"),
        ("explain --policy policy.yaml --as alice browse_label list project_id=a/b", "browse_labels"),
        ("explain --policy nothere.yaml --as alice browse_labels list", "readable YAML file"),
        ("explain --policy policy.yaml --as alice browse_labels list no_such=1 project_id=a/b", "no_such"),
        ("check one.yaml two.yaml", "More than one file"),
        ("check", "There is no policy"),
        ("chekc", "check"),
    ],
)
def test_a_mistake_on_the_command_line_is_said(words: str, says: str, run: Run) -> None:
    done = run(*words.split())
    assert done.returncode in (1, 2) and says in done.stderr and "Traceback" not in done.stderr


def test_mistakes_and_doubts_of_a_file_are_told_by_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("rules:\n  - name: a\n    users: [x]\n    trust: evil\n    colour: red\n")
    done = run("check", "policy.yaml")
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in done.stdout.splitlines()][:2] == [f"{file}:4", f"{file}:5"]
    file.write_text("rules:\n  - name: a\n    everybody: true\n  - name: b\n    users: [x]\n")
    done = run("check", "--policy", "policy.yaml", "--json")
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == 1 and told["usable"] and "policy.yaml:4: the rule b" in told["found"][0]
    file.write_text("rules: [{name: a, users: [x], toolsets: [ci]}]")
    assert run("check", "policy.yaml").returncode == 0
    assert run("check", "policy.yaml", "--toolsets", "core").returncode == 1


def test_with_a_token_gitlab_is_asked_about_somebody_else(run: Run, standin: StandIn) -> None:
    people = with_people(standin, {"acme": ("bob",)})
    # The token is root's, the question is about bob.
    people.people["root"] = 3
    standin.answer("GET", "/users", 200, [{"id": 3, "username": "bob"}])
    standin.answer("GET", "/groups/*/members/all/3", 404, {"message": "404 Not found"})
    standin.answer("GET", "/groups/acme/members/all/3", 200, {"id": 3, "username": "bob"})
    words = "explain --policy policy.yaml --json --as bob manage_job retry job_id=1 project_id=acme/website"
    done = run(*words.split(), "--never-in", "", gitlab=standin.url, GITLAB_TOKEN="root")
    assert done.returncode == 2 and "--never-in" in done.stderr
    for path in ("acme", "acme%2Fwebsite", "acme%2Fpayroll", "9", "1", "2"):
        kind = "projects" if "%2F" in path else "groups"
        body = {"id": {"acme%2Fpayroll": 2}.get(path, 1), "full_path": "acme", "parent_id": None}
        if kind == "projects":
            body |= {"path_with_namespace": path.replace("%2F", "/"), "namespace": {"id": 9, "kind": "group"}}
        standin.answer("GET", f"/{kind}/{path}", 200, body)
    done = run(*words.split(), gitlab=standin.url, GITLAB_TOKEN="root")
    told = json.loads(done.stdout)
    assert (told["verdict"], told["rule"], told["who"]) == ("allowed", "everybody-else", "bob, personal")
    assert {request.method for request in standin.requests} == {"GET"}


def test_with_a_token_check_looks_for_users_and_groups(run: Run, standin: StandIn) -> None:
    standin.answer("GET", "/groups/*", 404, {"message": "404 Group Not Found"})
    standin.answer("GET", "/groups/acme*", 200, {"id": 1, "full_path": "acme"})
    standin.answer("GET", "/users", 200, [])
    standin.answer("GET", "/users/42", 500, {"message": "500 Internal Server Error"})
    done = run("check", "policy.yaml", gitlab=standin.url, GITLAB_TOKEN="root")
    assert done.returncode == 1
    told = "\n".join(line.partition("names ")[2] for line in done.stdout.splitlines())
    assert "the user dana, which GitLab does not show" in told
    assert "the group partners, which GitLab does not show" in told
    assert "the user user:42, which GitLab could not be asked about" in told
    assert "acme" not in told

"""What is written for those who deploy says nothing that the server does not know."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitlab_mcp import __version__
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.observability.metrics import Metrics
from gitlab_mcp.observability.outcome import Outcome
from gitlab_mcp.settings import SETTINGS

ROOT = Path(__file__).parents[2]
FLAGS = {setting.flag for setting in SETTINGS if setting.flag}
VARIABLES = {name for setting in SETTINGS for name in setting.environment}
GUIDES = ("deploy.md", "operations.md", "runbook.md", "security.md", "http-clients.md")
NOT_OURS = {
    "--rm",
    "--build",
    "--build-arg",
    "--transport",
    "--header",
    "--pull",
    "--isolation",
    "--cap-drop",
}


def pins(name: str) -> dict[str, set[str]]:
    """Each pinned package with its hashes."""
    found: dict[str, set[str]] = {}
    package = ""
    for line in (ROOT / name).read_text().splitlines():
        if match := re.match(r"([a-z0-9][\w.-]*==[^\s;\\]+)", line):
            package = match[1]
            found[package] = set()
        found[package] |= set(re.findall(r"--hash=(\S+)", line))
    return found


def test_the_image_installs_nothing_that_is_not_tested() -> None:
    tested, shipped = pins("requirements.lock"), pins("requirements.runtime.lock")
    assert len(shipped) > 20
    assert {name: hashes for name, hashes in tested.items() if name in shipped} == shipped


@pytest.mark.parametrize(
    "name",
    ["Dockerfile", "compose.yaml", "deploy/kubernetes.yaml", *(f"docs/guides/{each}" for each in GUIDES)],
)
def test_every_flag_and_variable_that_is_written_down_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    if name == "Dockerfile":
        text = "\n".join(line for line in text.splitlines() if not line.startswith(("RUN", "HEALTHCHECK")))
        text = text.replace("--from=", "")
    # What follows is not ours, to the end of its lines.
    ours = re.sub(
        r"(redis-server|redis-cli|openssl|docker run|kubectl create|--tls|--appendonly).*", "", text
    )
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours)) - NOT_OURS
    assert flags <= FLAGS
    assert set(re.findall(r"\bGITLAB_[A-Z_]+\b", text)) <= VARIABLES


def test_the_image_serves_without_root_and_without_a_token() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001:10001"]
    assert lines[-1] == 'CMD ["serve", "--http", "0.0.0.0:8080"]'
    assert not [line for line in lines if "TOKEN" in line]
    # A command in shell form would need a shell.
    for line in lines:
        if line.startswith(("RUN", "CMD", "ENTRYPOINT")):
            assert json.loads(line.partition(" ")[2])


def test_manifests_are_well_formed_and_give_the_server_no_rights() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    server = compose["services"]["server"]
    assert server["deploy"]["replicas"] == 2 and server["read_only"] and server["cap_drop"] == ["ALL"]
    objects = list(yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text()))
    deployment = next(each for each in objects if each["metadata"]["name"] == "gitlab-mcp")
    pod = deployment["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["securityContext"]["readOnlyRootFilesystem"] and pod["securityContext"]["runAsNonRoot"]
    assert container["image"] == f"gitlab-mcp-server:{__version__}"
    # A stop waits for the longest call.
    longest = next(setting.default for setting in SETTINGS if setting.name == "deadline")
    assert pod["terminationGracePeriodSeconds"] > longest + 5


def metric_names(text: str) -> set[str]:
    names = set(re.findall(r"\bgitlab_mcp_[a-z_]+\b", text))
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def exported() -> str:
    metrics = Metrics({"gitlab_mcp_calls_in_flight": ("Calls.", lambda: 0)})
    metrics.count_call(Outcome("labels:list", 0.1, Failure(Code.NOT_FOUND, "No."), 0.001))
    metrics.count_request(200)
    return metrics.text()


@pytest.mark.parametrize("name", ["deploy/grafana.json", "docs/guides/operations.md"])
def test_every_metric_is_shown_and_every_metric_shown_exists(name: str) -> None:
    assert metric_names((ROOT / name).read_text()) == metric_names(exported())


def test_the_dashboard_uses_labels_that_metrics_have() -> None:
    dashboard: dict[str, Any] = json.loads((ROOT / "deploy/grafana.json").read_text())
    labels = set(re.findall(r'(\w+)="', exported())) | {"instance"}
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            for group in re.findall(r"by \(([^)]*)\)", target["expr"]):
                assert {label.strip() for label in group.split(",")} <= labels


def alerts() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"][0][
        "rules"
    ]
    return rules


def test_alerts_ask_for_metrics_labels_and_codes_that_exist() -> None:
    for rule in alerts():
        assert metric_names(rule["expr"]) <= metric_names(exported()), rule["alert"]
        codes = re.findall(r'error_code=~?"([A-Z_|]+)"', rule["expr"])
        assert {code for several in codes for code in several.split("|")} <= set(Code), rule["alert"]
        labels = {
            label.strip()
            for group in re.findall(r"by \(([^)]*)\)", rule["expr"])
            for label in group.split(",")
        }
        assert labels <= set(re.findall(r'(\w+)="', exported())), rule["alert"]


def test_each_alert_has_its_place_in_the_runbook_and_each_place_its_alert() -> None:
    runbook = (ROOT / "docs/guides/runbook.md").read_text()
    parts = runbook.split("\n## ")[1:]
    by_anchor = {part.split("\n")[0].lower().replace(" ", "-"): part for part in parts}
    named = {rule["annotations"]["runbook"].partition("#")[2]: rule["alert"] for rule in alerts()}
    assert named.keys() == by_anchor.keys()
    for anchor, alert in named.items():
        assert f"`{alert}`" in by_anchor[anchor]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool here (Debian: prometheus)")
def test_prometheus_takes_the_alerts() -> None:
    assert (
        subprocess.run(
            ["promtool", "check", "rules", str(ROOT / "deploy/alerts.yaml")], check=False
        ).returncode
        == 0
    )

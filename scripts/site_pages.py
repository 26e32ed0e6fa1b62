"""The documentation as a static site: the Markdown of this repository as it is, printed by mkdocs.

python scripts/site_pages.py     run by `make site`, in an environment of its own

The pages keep their places, so that the links between them lead where they lead in the repository. The result is
searched for anything that a browser would ask somebody else for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist/site"
TAKEN = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "AGENTS.md", "compose.yaml"),
    *("cassettes/README.md", "interop/README.md", "renovate.json", ".github/workflows/dependencies.yml"),
)
"""Besides docs/ and deploy/."""
ASKS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|data)=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import|url\()\s*["']?((?:https?:)?//[^"'\s)]+)"""
)
"""What a page or a style sheet would fetch from another host."""


def main() -> int:
    shutil.rmtree(SITE, ignore_errors=True)
    put_in_place(SITE / "pages")
    # Not --quiet: then it counts no warnings, and --strict lets them pass.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    if done.returncode:
        return done.returncode
    asked = list(asked_of_others(SITE / "html"))
    for line in asked:
        print(line, file=sys.stderr)
    if not asked:
        print(f"The pages are in {(SITE / 'html').relative_to(ROOT)}.")
    return 1 if asked else 0


def put_in_place(pages: Path) -> None:
    for folder in ("docs", "deploy"):
        shutil.copytree(ROOT / folder, pages / folder)
    for name in TAKEN:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text("utf-8").replace("](docs/decisions/)", "](docs/decisions/README.md)")
        (pages / name).write_text(text, "utf-8")
    (pages / "docs/decisions/README.md").write_text(decisions(pages / "docs/decisions"), "utf-8")


def decisions(folder: Path) -> str:
    """The list of decisions, which in the repository is the folder itself."""
    titles = {
        path.name: path.read_text("utf-8").partition("\n")[0].lstrip("# ") for path in folder.glob("*.md")
    }
    rows = (f"- [{title}]({name})" for name, title in sorted(titles.items(), key=lambda row: row[1].lower()))
    return (
        "# Decisions\n\nEach on a page: the context, the options, the choice, its price.\n\n"
        + "\n".join(rows)
        + "\n"
    )


def asked_of_others(html: Path) -> Iterator[str]:
    for path in sorted(html.rglob("*")):
        if path.suffix in (".html", ".css"):
            for found in ASKS.finditer(path.read_text("utf-8")):
                yield f"{path.relative_to(html)}: {next(filter(None, found.groups()))}"


if __name__ == "__main__":
    sys.exit(main())

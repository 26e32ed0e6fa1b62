"""Print what is derived from the code: catalogue.json, docs/reference/, the README's tool table.

python scripts/generate.py            write
python scripts/generate.py --check    fail when a committed file is not what would be written
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gitlab_mcp.core.registry import declared
from gitlab_mcp.core.schema import catalogue_entry

ROOT = Path(__file__).resolve().parent.parent


def catalogue() -> str:
    """One tool a line, so that a diff shows which tool changed."""
    entries = (catalogue_entry(module, tool) for module, tool in declared())
    lines = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def generated() -> dict[Path, str]:
    return {ROOT / "src/gitlab_mcp/catalogue.json": catalogue()}


def main() -> int:
    stale = []
    for path, text in generated().items():
        if "--check" in sys.argv:
            if not path.exists() or path.read_text("utf-8") != text:
                stale.append(path.relative_to(ROOT))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in stale:
        sys.stderr.write(f"{path} is not up to date: run `make docs` and commit what changes\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

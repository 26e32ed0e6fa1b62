"""Print what is derived from the code: catalogue.json, docs/reference/, the README's tool table.

python scripts/generate.py            write
python scripts/generate.py --check    fail when a committed file is not what would be written
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import reference
from client_pages import button_links, buttons, folded_sections, sections
from error_examples import examples
from first_answers import first_answers
from left_out import left_out, section
from make_rows import rows_text

from gitlab_mcp.actions.action_facts import facts_of
from gitlab_mcp.actions.registry import declared
from gitlab_mcp.actions.schema import catalogue_entry
from gitlab_mcp.actions.tool import Tool
from gitlab_mcp.actions.toolsets import TOOLSETS
from gitlab_mcp.api.coverage import Coverage, coverage
from gitlab_mcp.api.derivation import beside, custom_permissions, derived, docs_at, role_at, tokens
from gitlab_mcp.api.rows import all_rows
from gitlab_mcp.cli.described_actions import as_json, for_tables
from gitlab_mcp.finding.documents import described
from gitlab_mcp.tiers.feature_map import tier_map
from gitlab_mcp.tiers.marks import TierMarks
from gitlab_mcp.transports.http.remote_clients import GITLAB_TOKEN, REMOTE_CLIENTS

ROOT = Path(__file__).resolve().parent.parent
HTTP_CLIENTS_GUIDE = "docs/guides/http-clients.md"
EXAMPLE_URL = "https://mcp.example.com/mcp"
PERMISSIONS_GUIDE = "docs/guides/fine-grained-tokens.md"
PERMISSIONS = re.compile(r"(<!-- permissions -->\n).*?(<!-- /permissions -->)", re.DOTALL)
DANGER = re.compile(r"(<!-- danger -->\n).*?(<!-- /danger -->)", re.DOTALL)
COVERAGE = re.compile(r"(<!-- coverage -->\n).*?(<!-- /coverage -->)", re.DOTALL)
CLIENTS = re.compile(r"(<!-- clients -->\n).*?(<!-- /clients -->)", re.DOTALL)
BUTTONS = re.compile(r"(<!-- buttons -->\n).*?(<!-- /buttons -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- tools -->\n).*?(<!-- /tools -->)", re.DOTALL)


def catalogue() -> str:
    """One tool a line, so that a diff shows which tool changed."""
    marks = TierMarks(tier_map())
    entries = (catalogue_entry(tool, marks) for tool in declared())
    lines = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def searched() -> str:
    """What the search for actions reads. One tool a line."""
    lines = (json.dumps(described(tool), ensure_ascii=False, separators=(",", ":")) for tool in declared())
    return "[\n" + ",\n".join(lines) + "\n]\n"


def action_facts() -> str:
    """What the endpoints say of each action, where the action does not say it itself. One tool a line."""
    features = tier_map().paid_endpoints()
    lines = []
    for tool in declared():
        facts: dict[str, dict[str, Any]] = {}
        for name, action in tool.actions.items():
            endpoints = [*map(str, action.spec.endpoints)]
            known: dict[str, Any] = derived(endpoints, features)
            facts[name] = {fact: value for fact, value in known.items() if fact not in action.spec.own_facts}
            if "docs" not in action.spec.own_facts and (pages := docs_at(endpoints)):
                facts[name]["docs_at"] = pages
            if roles := beside(endpoints):
                facts[name]["beside"] = roles
            if custom := custom_permissions(endpoints):
                facts[name]["custom"] = custom
            if "role" not in action.spec.own_facts and (roles_at := role_at(endpoints)):
                facts[name]["role_at"] = roles_at
            if needs := tokens(endpoints):
                facts[name]["tokens"] = needs
        lines.append(f"{json.dumps(tool.name)}:{json.dumps(facts, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def told_of_actions() -> dict[Path, str]:
    """What `gitlab-mcp tools` prints, by toolset."""
    folder = ROOT / "src/gitlab_mcp/cli/actions"
    return {
        folder / of / f"{toolset}.tsv": "".join(f"{line}\n" for line in lines(toolset, tier_map()))
        for of, lines in (("tables", for_tables), ("json", as_json))
        for toolset in TOOLSETS
    }


def permissions_guide(toolsets: dict[str, list[Tool]]) -> str:
    table = reference.permissions_table(toolsets)
    guide = (ROOT / PERMISSIONS_GUIDE).read_text("utf-8")
    return PERMISSIONS.sub(lambda found: found[1] + table + found[2], guide)


def readme(toolsets: dict[str, list[Tool]]) -> str:
    table = reference.tool_table(toolsets, "docs/reference/")
    page = TABLE.sub(lambda found: found[1] + table + found[2], (ROOT / "README.md").read_text("utf-8"))
    figure = reference.coverage_sentence(_coverage(toolsets), "docs/reference/")
    page = COVERAGE.sub(lambda found: found[1] + figure + found[2], page)
    page = BUTTONS.sub(lambda found: found[1] + button_links() + found[2], page)
    return CLIENTS.sub(lambda found: found[1] + folded_sections() + found[2], page)


def clients_guide() -> str:
    page = (ROOT / "docs/guides/clients.md").read_text("utf-8")
    return CLIENTS.sub(lambda found: found[1] + sections() + found[2], page)


def _coverage(toolsets: dict[str, list[Tool]]) -> Coverage:
    actions = (action for tools in toolsets.values() for tool in tools for action in tool.actions.values())
    return coverage(str(endpoint) for action in actions for endpoint in action.spec.endpoints)


def guard_rails(tools: list[Tool]) -> str:
    page = (ROOT / "docs/guides/guard-rails.md").read_text("utf-8")
    return DANGER.sub(lambda found: found[1] + reference.danger_tables(tools) + found[2], page)


def http_clients() -> str:
    page = (ROOT / HTTP_CLIENTS_GUIDE).read_text("utf-8")
    sections = "\n\n".join(
        f"## {client.title}\n\nIn {client.where}:\n\n"
        f"```{client.syntax}\n{client.snippet(EXAMPLE_URL, GITLAB_TOKEN)}\n```"
        for client in REMOTE_CLIENTS
    )
    return CLIENTS.sub(lambda found: f"{found[1]}{sections}\n{found[2]}", page)


def generated() -> dict[Path, str]:
    tools = declared()
    toolsets = {name: [tool for tool in tools if tool.toolset == name] for name in TOOLSETS}
    toolsets = {name: members for name, members in toolsets.items() if members}
    missing = left_out(toolsets)
    errors = examples()
    pages = {
        f"{name}.md": reference.tools_page(name, members, tier_map()) + section(missing[name])
        for name, members in toolsets.items()
    }
    pages |= {
        "tools.md": reference.index_page(toolsets),
        "tiers.md": reference.tiers_page(tools, tier_map()),
        "errors.md": reference.errors_page(errors),
        "rows.md": reference.rows_page(all_rows().values(), _coverage(toolsets)),
    }
    return {
        ROOT / "src/gitlab_mcp/catalogue.json": catalogue(),
        ROOT / "src/gitlab_mcp/finding/actions.json": searched(),
        ROOT / "src/gitlab_mcp/failures/examples.json": json.dumps(errors, ensure_ascii=False, indent=1)
        + "\n",
        ROOT / "src/gitlab_mcp/transports/first_answers.json": first_answers(),
        **told_of_actions(),
        ROOT / "README.md": readme(toolsets),
        ROOT / "docs/guides/clients.md": clients_guide(),
        **{ROOT / file: picture for file, picture in buttons().items()},
        ROOT / PERMISSIONS_GUIDE: permissions_guide(toolsets),
        ROOT / "docs/guides/guard-rails.md": guard_rails(tools),
        ROOT / HTTP_CLIENTS_GUIDE: http_clients(),
        **{ROOT / "docs/reference" / name: text for name, text in pages.items()},
    }


def main() -> int:
    # First, and alone where they are stale: the pages are made from them.
    rows = rows_text(declared(), tier_map().paid_endpoints())
    stale = settle(
        {
            ROOT / "src/gitlab_mcp/action_facts.json": action_facts(),
            ROOT / "src/gitlab_mcp/api/rows.jsonl": rows,
        }
    )
    facts_of.cache_clear()
    all_rows.cache_clear()
    stale = stale or settle(generated())
    for path in stale:
        sys.stderr.write(f"{path} is not up to date: run `make docs` and commit what changes\n")
    return 1 if stale else 0


def settle(files: dict[Path, str]) -> list[Path]:
    """Write them, or with --check say which are not as they would be written."""
    if "--check" in sys.argv:
        return [
            path.relative_to(ROOT)
            for path, text in files.items()
            if not path.exists() or path.read_text("utf-8") != text
        ]
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return []


if __name__ == "__main__":
    sys.exit(main())

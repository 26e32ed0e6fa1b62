"""What the listing costs in context: tokens (o200k) per tool, per toolset, per action."""

from __future__ import annotations

import json

from rs_bpe.bpe import openai

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import TOOLSETS


def main() -> None:
    count = openai.o200k_base().count
    registry = Registry()
    total_tokens = total_actions = 0
    print(f"{'tool':<34}{'actions':>8}{'tokens':>8}{'each':>8}")
    for toolset in TOOLSETS:
        tokens = actions = 0
        for tool in registry.listing([toolset]):
            if registry.toolset_of(tool["name"]) != toolset:
                continue
            cost = count(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))
            size = len(registry.tool(tool["name"]).actions)
            tokens, actions = tokens + cost, actions + size
            print(f"{tool['name']:<34}{size:>8}{cost:>8}{cost / size:>8.1f}")
        if actions:
            print(f"{'= ' + toolset:<34}{actions:>8}{tokens:>8}{tokens / actions:>8.1f}\n")
        total_tokens, total_actions = total_tokens + tokens, total_actions + actions
    print(f"{'= all':<34}{total_actions:>8}{total_tokens:>8}{total_tokens / total_actions:>8.1f}   aim ≤ 40")


if __name__ == "__main__":
    main()

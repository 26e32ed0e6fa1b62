"""What is different on GitLab.com: nobody there can ask an administrator."""

from __future__ import annotations

import re
from typing import Final

from gitlab_mcp.actions.ask import Ask
from gitlab_mcp.failures.failure import Failure

_SENTENCE: Final = re.compile(r"[^.;]*\b[Aa]dministrator\b[^.]*(?:\.|$)")
_INSTEAD: Final = "GitLab runs GitLab.com itself: nobody else can change this there."


async def without_an_administrator(failure: Failure, ask: Ask) -> Failure:
    """The same failure; where it sends to an administrator, and GitLab is GitLab.com, it says that there is none."""
    fix = str(failure.facts.get("suggested_fix", ""))
    if not _SENTENCE.search(fix) or not (await ask.instance()).is_gitlab_com:
        return failure
    owners = fix.replace("an owner or administrator", "an owner")
    if not _SENTENCE.search(owners):
        return failure.knowing(suggested_fix=owners)
    return failure.knowing(suggested_fix=f"{_SENTENCE.sub('', fix).strip()} {_INSTEAD}".strip())

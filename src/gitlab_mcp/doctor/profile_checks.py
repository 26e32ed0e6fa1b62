"""The profiles of the settings file: which GitLab each is of, and where its token is. GitLab is not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitlab_mcp.doctor.held_token import HeldToken
from gitlab_mcp.doctor.report import Check, Mark
from gitlab_mcp.settings import Settings


def check_profiles(profiles: Mapping[str, Settings], held: Mapping[str, HeldToken]) -> Iterator[Check]:
    for name, settings in profiles.items():
        token = held[name]
        limits = ["read-only"] if settings.read_only else []
        limits += [f"at most {settings.trust}"] if settings.trust else []
        found = ", ".join([settings.url, *limits])
        if token.problem is not None:
            fix = str(token.problem.facts.get("suggested_fix", token.new_token))
            yield Check(f"profile {name}", Mark.FAIL, f"{found}: {token.problem.message}", fix)
        elif token.token is None:
            yield Check(f"profile {name}", Mark.WARN, f"{found}: it has no token", token.new_token)
        else:
            how = "signed in" if token.signed_in_until else "its token is"
            found = f"{found}; {how} in {token.where}; `gitlab-mcp doctor --profile {name}` tries it"
            yield Check(f"profile {name}", Mark.OK, found)

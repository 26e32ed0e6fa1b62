"""Print docs/guides/settings.md from the declaration of the settings.

python scripts/settings_page.py > docs/guides/settings.md
"""

from __future__ import annotations

import sys

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.settings import SETTINGS, Setting

_OPENING = """# Settings

<!-- Printed from src/gitlab_mcp/settings/settings.py by scripts/settings_page.py. -->

A setting can be given as a flag, as an environment variable, or as a key of the settings file; the flag wins over
the variable, the variable over the file. The settings file is TOML: `--config FILE`, else
`~/.config/gitlab-mcp/config.toml` (below `$XDG_CONFIG_HOME` where that is set). Relative paths in it start at the
file; a leading `~` is the home directory. A variable that is set but empty counts as not given, except where it would
be a limit (`toolsets`, `only_in`, `never_in`, `only_actions`, `never_actions`, `policy`): that stops the start. In a
compose file, `GITLAB_MCP_ONLY_IN:` without a value hands the variable on only where it is set;
`${GITLAB_MCP_ONLY_IN:-}` always does.

Where several variables are named, the first that is set counts. The first is ours; the others are what other GitLab
programs read, so that a set-up made for them works here.

A setting that cannot be used stops the start: every problem is told at once, with the place it came from and what
is expected there. `gitlab-mcp doctor` shows what is in effect and tries it.

```toml
# ~/.config/gitlab-mcp/config.toml
url = "https://gitlab.example.com"
token_file = "~/.config/gitlab-mcp/token"
toolsets = ["core", "planning"]
read_only = true
```
"""

_TOKENS = """
## Tokens

There is no flag for a token: everybody on the machine can read a command line. Put it into `GITLAB_TOKEN`, or into a
file that only you can read and name that file with `token_file`. Of a token and a token file, the one given nearer
to you counts (flag, variable, file); where both are given the same way, the file. A token never appears in logs,
errors or recordings.

A CI job's own token is used only when there is no other. Tokens that begin with `glcbt-` are sent as job tokens,
64 hexadecimal digits as OAuth tokens, all others as access tokens.
"""


def settings_page() -> str:
    parts = [_OPENING]
    for group in dict.fromkeys(setting.group for setting in SETTINGS):
        parts.append(f"\n## {group}\n")
        parts += [_entry(setting) for setting in SETTINGS if setting.group == group]
    parts.append(_TOKENS)
    parts.append("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n")
    parts += [f"| {code} | {meaning} |\n" for code, meaning in exit_codes.MEANINGS.items()]
    return "".join(parts)


def _entry(setting: Setting) -> str:
    ways = []
    if setting.flag:
        negation = " / `--no-" + setting.flag[2:] + "`" if setting.switch and setting.default else ""
        ways.append(f"flag `{setting.flag}`{negation}" + (" (may be repeated)" if setting.repeatable else ""))
    if setting.environment:
        ways.append("variable " + ", ".join(f"`{name}`" for name in setting.environment))
    if setting.in_file:
        ways.append(f"key `{setting.name}`")
    lines = [
        f"\n### {setting.name}\n\n{setting.help}\n",
        f"- Given as: {'; '.join(ways)}",
        f"- Expects: {setting.expects}",
    ]
    if (default := setting.written_default) is not None:
        lines.append(f"- Default: `{default}`")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(settings_page())

"""`gitlab-mcp completion`: what a shell reads so that TAB completes commands, flags, tools, actions and fields."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.usage_error import no_such
from gitlab_mcp.settings import SETTINGS

if TYPE_CHECKING:
    from argparse import ArgumentParser

PROGRAMS: Final = ("gitlab-mcp", "gitlab-mcp-server")
SHELLS: Final = ("bash", "zsh", "fish")


def show_completion(shell: str) -> int:
    if shell not in SHELLS:
        raise no_such("shell", shell, SHELLS, f"There is completion for {', '.join(SHELLS)}.")
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(PROGRAMS, shell=shell))
    return exit_codes.OK


def complete(
    parser: ArgumentParser, commands: Mapping[str, ArgumentParser], refused: Sequence[str]
) -> NoReturn:
    """Answer the shell, which asks by variables, and end. Flags that are `refused` are not offered."""
    import argcomplete

    choices = {setting.name: setting.choices for setting in SETTINGS if setting.choices}
    completers: Mapping[str, Callable[..., Iterable[str]]] = {
        "tool": _tools,
        "action": _actions,
        "pairs": _pairs,
        "code": _codes,
        "shell": lambda **_: SHELLS,
        **{name: lambda action, **_: choices[action.dest] for name in choices},
    }
    for each in (parser, *commands.values()):
        for action in each._actions:
            if action.dest in completers:
                # The library looks for it under this name.
                setattr(action, "completer", completers[action.dest])  # noqa: B010
    argcomplete.autocomplete(
        parser, always_complete_options=False, exclude=list(refused), print_suppressed=True
    )
    sys.exit(exit_codes.OK)


def _tools(**_: Any) -> list[str]:
    from gitlab_mcp.actions.registry import Registry

    return Registry().names()


def _actions(parsed_args: Namespace, **_: Any) -> list[str]:
    from gitlab_mcp.actions.registry import Registry

    registry = Registry()
    return registry.action_names(parsed_args.tool) if parsed_args.tool in registry else []


def _pairs(parsed_args: Namespace, prefix: str, **_: Any) -> list[str]:
    """The fields that the tool lists, and the values of one that has a list of them."""
    from gitlab_mcp.actions.registry import Registry

    fields = Registry().listed_fields(parsed_args.tool)
    name, equals, _value = prefix.partition("=")
    if equals:
        return [f"{name}={value}" for value in fields.get(name, {}).get("enum", ())]
    return [f"{name}=" for name in fields if name != "action"]


def _codes(**_: Any) -> list[str]:
    from gitlab_mcp.failures.codes import CODES

    return [code.name for code in CODES]

"""The commands and their flags, parsed with argparse. Every setting with a flag is one of them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from gitlab_mcp.cli import exit_codes
from gitlab_mcp.cli.usage_error import UsageError, no_such
from gitlab_mcp.settings import SETTINGS, Setting, Settings, load

if TYPE_CHECKING:
    from gitlab_mcp.tiers.feature_map import TierMap

_PROGRAM = "gitlab-mcp"
_EXAMPLES = """examples:
  gitlab-mcp                                          serve MCP over stdio, as clients start it
  gitlab-mcp --url https://gitlab.example.com --read-only
  gitlab-mcp serve --http 127.0.0.1:8080              serve a team over HTTP, each with their own token
  gitlab-mcp init                                     keep the address and a token of your GitLab
  gitlab-mcp login                                    or sign in to it in a browser
  gitlab-mcp install cursor --token-file ~/.gitlab-token   add this server to a client
  gitlab-mcp demo                                     a tour without a token or a network
  gitlab-mcp doctor                                   say what is wrong with the set-up
  gitlab-mcp tools --toolset planning                 list what agents can call
  gitlab-mcp call browse_issues list project_id=acme/website state=opened
  gitlab-mcp policy check policy.yaml                 say what is wrong with a policy file
  gitlab-mcp tiers --check                            hold what is known of tiers against your GitLab
  gitlab-mcp errors TIER_RESTRICTED                   explain an error code

The token comes from init, login, GITLAB_TOKEN or --token-file, never from a flag."""


_COMMANDS = {
    "serve": "serve MCP over stdio, as without a command, or over HTTP",
    "init": "ask for GitLab's address and a token once, try them, and keep them",
    "login": "sign in to GitLab in a browser, and stay signed in",
    "logout": "sign out of GitLab, and forget what is kept for it",
    "install": "add this server to the settings of an MCP client, after showing what changes",
    "demo": "a tour on recorded answers of a real GitLab: no token, no network",
    "tools": "list every tool and action, whichever toolsets are on",
    "call": "make one call, as an agent would",
    "doctor": "check address, certificates, token, version and tier, and say how to mend what is wrong",
    "policy": "check a policy file, or explain what it says of one person and one call",
    "tiers": "show which tier each feature needs, or check that against your GitLab",
    "errors": "explain the error codes",
    "completion": "print what bash, zsh or fish reads so that TAB completes",
    "version": "show the version",
    "help": "help on a command, or on `settings`: all of them",
}
_EXAMPLES_OF = {
    "serve": ("gitlab-mcp serve --read-only", "gitlab-mcp serve --http 127.0.0.1:8080"),
    "init": (
        "gitlab-mcp init",
        "gitlab-mcp init --profile work",
        "gitlab-mcp init --url https://gitlab.example.com < token.txt",
    ),
    "login": (
        "gitlab-mcp login",
        "gitlab-mcp login --device",
        "gitlab-mcp login --profile work --url https://gitlab.example.com --oauth-client-id 0123456789abcdef",
    ),
    "logout": ("gitlab-mcp logout", "gitlab-mcp logout --profile work"),
    "install": (
        "gitlab-mcp install",
        "gitlab-mcp install cursor --url https://gitlab.example.com --token-file ~/.gitlab-token",
        "gitlab-mcp install vscode --read-only --toolsets core,ci",
        "gitlab-mcp install zed --print",
        "gitlab-mcp install cursor --remove",
    ),
    "demo": ("gitlab-mcp demo",),
    "tools": (
        "gitlab-mcp tools --toolset ci",
        "gitlab-mcp tools --tiers | grep -v Free",
        "gitlab-mcp tools --json | jq '.[].endpoints'",
        "gitlab-mcp tools --coverage",
    ),
    "call": (
        "gitlab-mcp call browse_labels list project_id=acme/website",
        "gitlab-mcp call project_badge create project_id=42 link_url=... image_url=...",
        "gitlab-mcp call manage_issue update project_id=acme/website issue_iid=12 labels=bug labels=urgent",
        'gitlab-mcp call manage_label create --args \'{"project_id": 42, "name": "bug", "color": "red"}\'',
        "gitlab-mcp call manage_label delete project_id=acme/website label_id=bug --yes",
        "gitlab-mcp call browse_labels list project_id=acme/website --replay cassettes/19.3/labels.json",
    ),
    "doctor": ("gitlab-mcp doctor", "gitlab-mcp doctor --url https://gitlab.example.com --json"),
    "policy": (
        "gitlab-mcp policy check policy.yaml",
        "gitlab-mcp policy explain --policy policy.yaml --as alice manage_branch delete project_id=acme/website",
        "gitlab-mcp policy explain --as bob --group acme/contractors --token-kind oauth browse_issues list",
    ),
    "tiers": (
        "gitlab-mcp tiers",
        "gitlab-mcp tiers --check",
        "gitlab-mcp tiers --check --project acme/website --group acme --record checked.json",
    ),
    "errors": ("gitlab-mcp errors", "gitlab-mcp errors NOT_FOUND --json"),
    "completion": (
        "source <(gitlab-mcp completion bash)",
        "source <(gitlab-mcp completion zsh)   # after compinit, in ~/.zshrc",
        "gitlab-mcp completion fish > ~/.config/fish/completions/gitlab-mcp.fish",
    ),
    "version": ("gitlab-mcp version",),
}
_COMMON = (
    "url", "token_file", "config", "profile", "toolsets", "read_only", "confirm", "http", "record", "replay",
    "log_level",
)  # fmt: skip
"""The settings that `--help` shows; `help settings` shows all."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        # argparse makes a formatter for every flag that is added, to check it, and each asks how wide the terminal is.
        super().__init__(
            **options, formatter_class=partial(argparse.HelpFormatter, width=80), allow_abbrev=False
        )

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        # argparse repeats what it did not understand, and that may be a token.
        wrong = re.sub(r"\bgl[a-z]+-[\w.-]+", "[token]", message)
        raise UsageError(f"{wrong[0].upper()}{wrong[1:]}.", f"See `{self.prog} --help`.")

    def flags(self) -> dict[str, argparse.Action]:
        return self._option_string_actions


class _Refuse(argparse.Action):
    """A flag for a token: known, so that it is refused and its value repeated nowhere."""

    def __call__(self, *_: Any) -> NoReturn:
        raise UsageError(
            "A token on the command line can be read by everybody on this machine; it was not used.",
            "Put it into GITLAB_TOKEN, or into a file named by --token-file. "
            "Then replace the token: it is in your shell's history now.",
        )


def run(argv: Sequence[str]) -> int:
    parser, commands = _parser()
    command = _command_in(argv, parser)
    if command == "help":
        return _help_on([word for word in argv if word != "help"], parser, commands)
    if command is not None:
        _complete(command, commands[command])
    try:
        given, more = parser.parse_known_args(argv)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else exit_codes.USAGE
    given.pairs = [*getattr(given, "pairs", []), *(word for word in more if not word.startswith("-"))]
    for word in (
        more if given.command not in ("call", "policy") else [word for word in more if word.startswith("-")]
    ):
        raise _not_understood(word, commands.get(command or "", parser))
    flags = {setting.name: getattr(given, setting.name, None) for setting in SETTINGS}
    # Imported by command: listing error codes needs neither HTTP nor the catalogue.
    match given.command:
        case "tools":
            from gitlab_mcp.cli.tools import show_coverage, show_tools

            if given.coverage:
                return show_coverage(as_json=given.json)
            # All toolsets unless a flag says otherwise: the variable and the file say what agents are offered.
            chosen = {"toolsets": flags["toolsets"] or "all"}
            settings = load({**flags, **chosen}) if given.tiers else load(chosen, {})
            own = _tiers(settings) if settings.tier_features else None
            return show_tools(settings.toolsets, as_json=given.json, with_tiers=given.tiers, own=own)
        case "call":
            from gitlab_mcp.cli.call import call

            return call(
                flags, given.tool, given.action, given.pairs, given.args, as_json=given.json, yes=given.yes
            )
        case "init":
            from gitlab_mcp.cli.init import init

            return init(flags, yes=given.yes)
        case "login":
            from gitlab_mcp.cli.login import login

            return login(flags, device=given.device, yes=given.yes)
        case "logout":
            from gitlab_mcp.cli.login import logout

            return logout(flags)
        case "doctor":
            from gitlab_mcp.cli.doctor import show_checks

            return show_checks(flags, as_json=given.json)
        case "policy":
            from gitlab_mcp.cli.policy import check, explain

            if given.what == "check":
                return check(flags, given.pairs, as_json=given.json)
            return explain(
                flags, given.pairs, given.username, given.groups, given.token_kind, as_json=given.json
            )
        case "tiers":
            from gitlab_mcp.cli.tiers import show_check, show_map

            if given.check:
                return show_check(flags, _tiers(load(flags)), given.group, as_json=given.json)
            return show_map(_tiers(load(flags)), as_json=given.json)
        case "install":
            from gitlab_mcp.cli.install import install, show_clients

            if given.client is None:
                return show_clients(as_json=given.json)
            return install(
                flags,
                given.client,
                given.name,
                remove=given.remove,
                only_print=given.print,
                with_token=given.write_token,
                yes=given.yes,
            )
        case "demo":
            from gitlab_mcp.cli.demo import show_demo

            return show_demo()
        case "errors":
            from gitlab_mcp.cli.errors import show_errors

            return show_errors(given.code, as_json=given.json)
        case "completion":
            from gitlab_mcp.cli.completion import show_completion

            return show_completion(given.shell)
        case "version":
            from gitlab_mcp.cli.version import show_version

            return show_version()
        case _:
            from gitlab_mcp.cli.serve import serve

            return serve(flags)


def complete() -> NoReturn:
    """Answer a shell that asks how the line goes on."""
    from gitlab_mcp.cli import completion

    parser, commands = _parser()
    for name, command in commands.items():
        _complete(name, command)
    refused = [flag for flag, action in parser.flags().items() if isinstance(action, _Refuse)]
    completion.complete(parser, commands, refused)


def _command_in(argv: Sequence[str], parser: _Parser) -> str | None:
    """The first word that is no flag and no value of a flag. UsageError where it is no command, or an unknown flag
    stands before it."""
    flags, words = parser.flags(), iter(argv)
    for word in words:
        if not word.startswith("-"):
            if word in _COMMANDS:
                return word
            raise no_such("command", word, _COMMANDS, f"The commands are {', '.join(_COMMANDS)}.")
        name, equals, _ = word.partition("=")
        if name not in flags:
            raise _not_understood(word, parser)
        if not equals and flags[name].nargs in (None, argparse.OPTIONAL):
            next(words, None)
    return None


def _not_understood(word: str, parser: _Parser) -> UsageError:
    see = f"See `{parser.prog} --help`."
    if not word.startswith("-"):
        return UsageError("There is a word too many.", see)
    known = [flag for flag, action in parser.flags().items() if not isinstance(action, _Refuse)]
    return no_such(
        "flag", word.partition("=")[0], known, f"{see} `{_PROGRAM} help settings` has all settings."
    )


def _help_on(words: Sequence[str], parser: _Parser, commands: Mapping[str, _Parser]) -> int:
    match words:
        case []:
            parser.print_help()
        case ["settings"]:
            whole = _Parser(prog=_PROGRAM, usage=f"{_PROGRAM} [COMMAND] [flags]", add_help=False)
            _add_settings(whole, [setting.name for setting in SETTINGS], grouped=True)
            whole.print_help()
        case [name] if name in commands:
            _complete(name, commands[name])
            commands[name].print_help()
        case _:
            topics = [*(name for name in commands if name != "help"), "settings"]
            raise no_such("help", words[0], topics, f"There is help on {', '.join(topics)}.")
    return exit_codes.OK


def _tiers(settings: Settings) -> TierMap:
    from gitlab_mcp.tiers.feature_map import TierMapError, tier_map

    own = settings.tier_features
    try:
        return tier_map(*([own] if own else []))
    except TierMapError as mistake:
        raise UsageError("The file of tier features cannot be used.", f"{mistake}.") from None


def _parser() -> tuple[_Parser, Mapping[str, _Parser]]:
    """The parser, and those of its commands. These are listed and know no flags yet: only one is meant, and seventy
    settings are flags of each."""
    codes = "\n".join(f"  {code:<4} {meaning}" for code, meaning in exit_codes.MEANINGS.items())
    parser = _Parser(
        prog=_PROGRAM,
        usage=f"{_PROGRAM} [COMMAND] [flags]",
        description="A GitLab MCP server whose every failure teaches. Without a command, it serves stdio.",
        epilog=f"{_EXAMPLES}\n\nexit codes:\n{codes}",
        add_help=False,
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", prog=_PROGRAM, parser_class=_Parser
    )
    for name, about in _COMMANDS.items():
        examples = "\n".join(f"  {example}" for example in _EXAMPLES_OF.get(name, ()))
        commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"examples:\n{examples}\n\nEvery flag of `{_PROGRAM} help settings` works here too.",
        )
    general = parser.add_argument_group("flags", "before or after the command; all others: help settings")
    general.add_argument("-h", "--help", action="help", help="show this")
    general.add_argument(
        "--version", action="store_const", const="version", dest="command", help="same as version"
    )
    _add_settings(parser, _COMMON, into=general)
    return parser, commands.choices


def _complete(name: str, command: _Parser) -> None:
    """Add the flags and words of a command."""
    _add_settings(command, ())
    match name:
        case "init" | "login":
            command.flags()[
                "--profile"
            ].help = "the profile to keep it for, which is made where it is not there yet"
            command.add_argument(
                "--yes", action="store_true", help="replace what is kept already without asking"
            )
            if name == "login":
                command.add_argument(
                    "--device",
                    action="store_true",
                    help="sign in with a browser on another device; chosen by itself where none can be opened",
                )
        case "tools":
            command.flags()["--toolset"].help = "only the tools of these toolsets, with commas between"
            command.add_argument(
                "--tiers", action="store_true", help="what each action and its fields need to be paid for"
            )
            command.add_argument(
                "--coverage",
                action="store_true",
                help="how much of GitLab's API can be called, and what is left out",
            )
        case "install":
            command.add_argument(
                "client", metavar="CLIENT", nargs="?", help="without it, all of them are listed"
            )
            command.add_argument(
                "--name", default="gitlab", help="what the client calls the server [default gitlab]"
            )
            command.add_argument(
                "--print", action="store_true", help="only print what belongs into the client's file"
            )
            command.add_argument("--remove", action="store_true", help="take the server out again")
            command.add_argument(
                "--write-token",
                action="store_true",
                help="write the token of GITLAB_TOKEN into the file too, for all who can read it",
            )
            command.add_argument("--yes", action="store_true", help="change the file without asking")
        case "call":
            command.add_argument("tool", metavar="TOOL")
            command.add_argument("action", metavar="ACTION")
            command.add_argument(
                "pairs",
                metavar="key=value",
                nargs="*",
                default=[],
                help="an argument; the same key again makes a list",
            )
            command.add_argument(
                "--args", metavar="JSON", help="arguments as a JSON object; - reads it from standard input"
            )
            command.add_argument(
                "--yes", action="store_true", help="say yes beforehand to what a person would be asked about"
            )
        case "policy":
            command.add_argument("what", choices=("check", "explain"), metavar="check|explain")
            command.add_argument(
                "pairs",
                metavar="WORD",
                nargs="*",
                default=[],
                help="of check: the file, where --policy does not name it; of explain: a tool, an action and key=value",
            )
            command.add_argument(
                "--as", dest="username", metavar="USERNAME", help="who calls; else whose token it is"
            )
            command.add_argument(
                "--group",
                dest="groups",
                metavar="GROUP",
                action="append",
                help="a group they are in, which can be repeated; without it, GitLab is asked where there is a token",
            )
            command.add_argument("--token-kind", metavar="KIND", help="what they call with; default personal")
            command.flags()["--policy"].help = "the policy file"
        case "tiers":
            command.add_argument(
                "--check",
                action="store_true",
                help="ask GitLab about each feature it can be asked about, reading only",
            )
            command.add_argument(
                "--group", metavar="GROUP", help="the group to ask about; else that of the project"
            )
            command.flags()["--project"].help = "the project to ask about; else one of your own"
            told = "with --check, write what to send in: answers without what is in them"
            command.flags()["--record"].help = told
        case "errors":
            command.add_argument("code", metavar="CODE", nargs="?", help="one code; without it, all of them")
        case "completion":
            command.add_argument("shell", metavar="SHELL", help="bash, zsh or fish")
    if name in ("install", "tools", "call", "doctor", "policy", "tiers", "errors"):
        command.add_argument("--json", action="store_true", help="print JSON for programs")


def _add_settings(
    parser: argparse.ArgumentParser, shown: Sequence[str], *, into: Any = None, grouped: bool = False
) -> None:
    """Add a flag for every setting. Help shows those named in `shown`, under the headings of settings if `grouped`."""
    groups: dict[str, Any] = {}
    for setting in sorted(SETTINGS, key=lambda each: shown.index(each.name) if each.name in shown else -1):
        if setting.flag is None:
            continue
        place = into or parser
        if grouped:
            place = groups.get(setting.group) or parser.add_argument_group(setting.group)
            groups[setting.group] = place
        options: dict[str, Any] = {
            # A default here would hide what was given before the command's name.
            "default": argparse.SUPPRESS,
            "dest": setting.name,
            "help": _help(setting) if setting.name in shown else argparse.SUPPRESS,
        }
        if setting.switch:
            negatable = argparse.BooleanOptionalAction if setting.default else "store_true"
            place.add_argument(setting.flag, action=negatable, **options)
        else:
            options["metavar"] = setting.placeholder
            place.add_argument(setting.flag, action="append" if setting.repeatable else "store", **options)
    parser.add_argument(
        "--toolset", dest="toolsets", help=argparse.SUPPRESS, default=argparse.SUPPRESS, metavar="NAMES"
    )
    for flag in ("--token", "--private-token", "--access-token", "--pat", "--job-token"):
        parser.add_argument(
            flag, action=_Refuse, nargs="?", help=argparse.SUPPRESS, default=argparse.SUPPRESS
        )


def _help(setting: Setting) -> str:
    default = setting.written_default
    told = [f"default {default}" if default and default != "false" else "", *setting.environment[:1]]
    more = ", ".join(each for each in told if each)
    return (f"{setting.help} [{more}]" if more else setting.help).replace("%", "%%")

"""The file that says who may do what: how it is read, what is wrong with it, and when it is read again."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from gitlab_mcp.actions.ask import TOKEN_KINDS
from gitlab_mcp.actions.danger import Danger
from gitlab_mcp.actions.places import is_elsewhere, parse_places
from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.actions.toolsets import DISCOVER, TOOLSETS, is_callable
from gitlab_mcp.policy.action_patterns import unmatched_patterns
from gitlab_mcp.policy.danger import exceeds
from gitlab_mcp.policy.limits import Limits
from gitlab_mcp.policy.personal_rules import THE_OPERATOR, PersonalRule, PersonalRules, Who
from gitlab_mcp.policy.rules import guards_of_limits
from gitlab_mcp.settings import parsers
from gitlab_mcp.settings.errors import SettingsError, bad_policy
from gitlab_mcp.settings.lined_yaml import Node, NotReadable, read
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.operator_rules import confirmed_from, quotas
from gitlab_mcp.settings.settings import SETTINGS, Settings

log = logging.getLogger("gitlab_mcp.policy")

_MOST_BYTES: Final = 100_000
_LONGEST_CONTACT: Final = 200
_MOST_GROUPS: Final = 50
"""GitLab is asked about each of them, for each caller."""
_MOST_LINES: Final = 20
_SETTLED_AFTER: Final = 1.0
"""Seconds since the file was last written: half a file can be a whole policy, and a wider one."""
_REMINDER_SECONDS: Final = 300.0

_LIMITS: Final = {
    setting.name: setting
    for setting in SETTINGS
    if setting.name in (
        "read_only", "toolsets", "only_in", "never_in", "only_actions", "never_actions", "trust", "confirm", "quota",
    )
}  # fmt: skip
"""What a rule can limit has the name, the values and the meaning of the setting."""
_WHO: Final = ("users", "groups", "direct_groups", "tokens")
_KEYS: Final = ("name", *_WHO, "everybody", "gitlab", *_LIMITS)
_RULE_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)
_USER: Final = re.compile(r"user:[1-9]\d{0,15}|[\w.-]{1,255}", re.ASCII)
_GROUP: Final = re.compile(r"group:[1-9]\d{0,15}|[\w.-]+(?:/[\w.-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mistake:
    line: int
    what: str


class PolicyMistakes(ValueError):
    """The file cannot be used."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__()
        self.mistakes = sorted(mistakes, key=lambda mistake: mistake.line)


class PolicyFile:
    """Gives the policy as it is now. A new version that cannot be used leaves the one before in force, and says so."""

    def __init__(self, path: Path, settings: Settings, registry: Registry) -> None:
        """Raises SettingsError where the file cannot be used."""
        self._path = path
        self._settings = settings
        self._registry = registry
        self._tried = self._stamp()
        self._is_being_read = False
        self._said_at: float | None = None
        try:
            self._take(self._read())
        except PolicyMistakes as unusable:
            source = settings.sources.get("policy", "--policy")
            raise SettingsError(bad_policy(source, _lines(path, unusable.mistakes))) from None

    async def current(self) -> PersonalRules:
        stamp = self._stamp()
        if stamp != self._tried and not self._is_being_read and _is_settled(stamp):
            # Others go on with the version before: a large file takes its time.
            self._is_being_read = True
            try:
                await anyio.to_thread.run_sync(self._read_again, stamp)
            finally:
                self._is_being_read = False
        elif self._said_at is not None and time.monotonic() - self._said_at > _REMINDER_SECONDS:
            self._complain(["it has not been mended"])
        return self._rules

    def _read_again(self, stamp: tuple[int, ...] | None) -> None:
        try:
            rules = self._read()
        except PolicyMistakes as unusable:
            self._tried = stamp
            self._complain(_lines(self._path, unusable.mistakes))
        else:
            # Else it was written to meanwhile, and is read again by the next call.
            if stamp == self._stamp():
                self._tried, self._said_at = stamp, None
                self._take(rules)

    def _read(self) -> PersonalRules:
        return read_policy(content_of(self._path), self._settings, self._registry)

    def _take(self, rules: PersonalRules) -> None:
        self._rules = rules
        for doubt in doubts(rules, self._settings):
            log.warning("%s:%s: %s", self._path, doubt.line, doubt.what)
        log.info("the policy %s is in force: %s rules, %s", self._path, len(rules.rules), rules.digest)

    def _complain(self, lines: Sequence[str]) -> None:
        self._said_at = time.monotonic()
        log.error(
            "the policy %s cannot be used, and the version before it (%s) stays in force: %s",
            self._path,
            self._rules.digest,
            " ".join(lines),
        )

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        # The inode too: a file renamed into place can carry the time of the old one.
        return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _is_settled(stamp: tuple[int, ...] | None) -> bool:
    return stamp is None or not 0 <= time.time() - stamp[0] / 1e9 < _SETTLED_AFTER


def content_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PolicyMistakes([Mistake(1, f"it cannot be read: {error.strerror}.")]) from None


def read_policy(content: bytes, settings: Settings, registry: Registry) -> PersonalRules:
    """Raises PolicyMistakes with everything that is wrong."""
    if len(content) > _MOST_BYTES:
        raise PolicyMistakes([Mistake(1, f"it has more than {_MOST_BYTES} bytes.")])
    try:
        root = read(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PolicyMistakes([Mistake(line, "it is not UTF-8.")]) from None
    except NotReadable as error:
        raise PolicyMistakes([Mistake(error.line, f"{error.what}.")]) from None
    return _Reading(settings, registry).policy(root, hashlib.sha256(content).hexdigest()[:12])


class _Reading:
    """Reads one version, and collects what is wrong with it."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._settings = settings
        self._registry = registry
        self._mistakes: list[Mistake] = []
        self._patterns: list[tuple[int, str, str]] = []
        """Each with its line and the key it is under."""
        self._contact = THE_OPERATOR

    def policy(self, root: Node, digest: str) -> PersonalRules:
        keys = self._mapping(root, ("contact", "rules"), "the policy")
        if "contact" in keys:
            expected = "one line of at most 200 characters"
            self._contact = self._parsed("contact", keys["contact"], _contact, expected)
        rules: list[PersonalRule] = []
        listed = keys["rules"].value if "rules" in keys else None
        if isinstance(listed, list) and listed:
            rules = [rule for each in listed if (rule := self._rule(each)) is not None]
        else:
            line = keys["rules"].line if "rules" in keys else root.line
            self._wrong(line, "rules: expected a list of rules; without one nobody could call anything.")
        for number, rule in enumerate(rules):
            if any(rule.name == before.name for before in rules[:number]):
                self._wrong(rule.line, f"there is a rule {rule.name} before this one.")
        self._check_patterns()
        groups = {
            (rule.gitlab, direct, group)
            for rule in rules
            for direct in (False, True)
            for group in (rule.who.direct_groups if direct else rule.who.groups)
        }
        if len(groups) > _MOST_GROUPS:
            self._wrong(
                root.line,
                f"it names {len(groups)} groups, and {_MOST_GROUPS} is the most: GitLab is asked about each, for "
                "each caller.",
            )
        if self._mistakes:
            raise PolicyMistakes(self._mistakes)
        return PersonalRules(tuple(rules), self._contact, digest)

    def _rule(self, node: Node) -> PersonalRule | None:
        found = len(self._mistakes)
        keys = self._mapping(node, _KEYS, "a rule")
        if not isinstance(node.value, dict):
            return None
        name = ""
        if "name" in keys:
            expected = "letters, digits, ., _ and -, beginning with a letter or a digit"
            name = self._parsed("name", keys["name"], _matching(_RULE_NAME), expected)
        else:
            self._wrong(node.line, "the rule has no name.")
        gitlab = self._settings.url
        if "gitlab" in keys:
            expected = "the address of --url, or one of --allow-gitlab-host"
            gitlab = self._parsed("gitlab", keys["gitlab"], self._allowed_gitlab, expected)
        who, limits = self._who(keys, node.line), self._limits(keys)
        if len(self._mistakes) > found:
            return None
        guards = guards_of_limits(limits, gitlab, self._settings.gitlabs())
        return PersonalRule(name, who, gitlab, limits, guards, self._contact, node.line)

    def _who(self, keys: Mapping[str, Node], line: int) -> Who:
        users = self._words("users", keys, _user, "usernames without @, or numbers as user:42")
        expected = "paths of groups such as acme/platform, or numbers as group:7"
        groups = self._words("groups", keys, _group, expected)
        direct = self._words("direct_groups", keys, _group, expected)
        tokens = self._words("tokens", keys, _token_kind, f"some of {', '.join(TOKEN_KINDS)}", TOKEN_KINDS)
        named = [key for key in _WHO if key in keys]
        everybody = "everybody" in keys and self._parsed(
            "everybody", keys["everybody"], parsers.boolean, "true, or not there at all"
        )
        if everybody and named:
            self._wrong(line, f"the rule is for everybody and names {' and '.join(named)}.")
        elif not everybody and not named:
            self._wrong(line, f"the rule names nobody: give {', '.join(_WHO)}, or everybody: true.")
        return Who(frozenset(users), tuple(groups), tuple(direct), frozenset(tokens))

    def _limits(self, keys: Mapping[str, Node]) -> Limits:
        given = {
            name: self._parsed(name, keys[name], _accepted_by(setting), setting.expects, setting.choices)
            for name, setting in _LIMITS.items()
            if name in keys
        }
        given = {name: value for name, value in given.items() if value is not None}
        for name in ("only_in", "never_in"):
            for place in given.get(name, ()):
                if is_elsewhere(place, self._settings.gitlabs()):
                    self._wrong(keys[name].line, f"{name}: {place} is on no GitLab of this server.")
        for name in ("only_actions", "never_actions"):
            for entry in _entries(keys[name]) if name in given else ():
                patterns = parsers.comma_separated(entry.value)
                self._patterns += [(entry.line, name, pattern) for pattern in patterns]
        return Limits(
            read_only=given.get("read_only", False),
            toolsets=self._toolsets(given["toolsets"], keys["toolsets"]) if "toolsets" in given else None,
            only_in=given.get("only_in", ()),
            never_in=given.get("never_in", ()),
            only_actions=given.get("only_actions", ()),
            never_actions=given.get("never_actions", ()),
            trust=Danger(given["trust"]) if "trust" in given else None,
            confirm=confirmed_from(given["confirm"]) if "confirm" in given else None,
            quotas=quotas(given.get("quota", ())),
        )

    def _toolsets(self, named: tuple[str, ...], node: Node) -> tuple[str, ...] | None:
        if "all" in named:
            return None
        known = [name for name in TOOLSETS if name != DISCOVER]
        for name in named:
            if name not in known:
                self._wrong(
                    node.line,
                    f"toolsets: there is no {name!r} to choose. There are {', '.join(known)}, and all."
                    f"{_near(name, known)}",
                )
        return named

    def _check_patterns(self) -> None:
        """A pattern that fits no action would allow or forbid nothing, and nobody would notice."""
        named = dict.fromkeys(pattern for _, _, pattern in self._patterns)
        unknown = unmatched_patterns(named, self._registry.every_name()) if named else []
        unknown = unmatched_patterns(unknown, self._registry.row_names()) if unknown else []
        if not unknown:
            return
        names = [name for names in self._registry.every_name() for name in names]
        known = [*dict.fromkeys(name.tool for name in names), *map(str, names)]
        for line, key, pattern in self._patterns:
            if pattern in unknown:
                near = _near(pattern, known) if len(self._mistakes) < _MOST_LINES else ""
                fix = f"`gitlab-mcp tools` lists them.{near}"
                self._wrong(line, f"{key}: {pattern!r} fits no action; {fix}")

    def _allowed_gitlab(self, value: Any) -> str:
        url = parsers.gitlab_url(value)
        if url not in self._settings.gitlabs():
            raise ValueError
        return url

    def _mapping(self, node: Node, known: Sequence[str], what: str) -> Mapping[str, Node]:
        """The members that are known."""
        if not isinstance(node.value, dict):
            self._wrong(node.line, f"{what} must be a mapping with keys out of {', '.join(known)}.")
            return {}
        for key, value in node.value.items():
            if key not in known:
                there = f"There are {', '.join(known)}."
                self._wrong(value.line, f"{what} has no key {key!r}. {there}{_near(key, known)}")
        return {key: value for key, value in node.value.items() if key in known}

    def _words(
        self,
        key: str,
        keys: Mapping[str, Node],
        parse: Callable[[Any], str],
        expected: str,
        known: Sequence[str] = (),
    ) -> list[str]:
        if key not in keys:
            return []
        entries = _entries(keys[key])
        if not entries:
            self._wrong(keys[key].line, f"{key}: expected {expected}; the list is empty.")
        return [
            word for each in entries if (word := self._parsed(key, each, parse, expected, known)) is not None
        ]

    def _parsed(
        self, key: str, node: Node, parse: Callable[[Any], Any], expected: str, known: Sequence[str] = ()
    ) -> Any:
        """None where it cannot be parsed."""
        try:
            return parse(_plain(node))
        except (ValueError, OverflowError):
            near = _near(node.value, known) if isinstance(node.value, str) else ""
            self._wrong(node.line, f"{key}: expected {expected}.{near}")
            return None

    def _wrong(self, line: int, what: str) -> None:
        self._mistakes.append(Mistake(line, what))


def doubts(policy: PersonalRules, settings: Settings) -> list[Mistake]:
    """What can be used and is hardly what was meant: rules that nobody gets to, limits that the settings make idle."""
    return [doubt for number, rule in enumerate(policy.rules) for doubt in (
        *_unreachable(rule, policy.rules[:number]),
        *_without_effect(rule, settings),
    )]  # fmt: skip


def _unreachable(rule: PersonalRule, before: Sequence[PersonalRule]) -> Iterator[Mistake]:
    for other in before:
        if other.gitlab == rule.gitlab and _is_for_all_of(other.who, rule.who):
            yield Mistake(
                rule.line,
                f"the rule {rule.name} is never reached: {other.name} before it is for all of them.",
            )
            return


def _is_for_all_of(other: Who, who: Who) -> bool:
    """Whether the first is for everybody whom the second is for, as far as their words show it."""
    if other.tokens and not (who.tokens and who.tokens <= other.tokens):
        return False
    if other.is_anybody or who.is_anybody:
        return other.is_anybody
    direct = all(
        group in other.direct_groups or _is_above(group, other.groups) for group in who.direct_groups
    )
    return direct and who.users <= other.users and all(_is_above(each, other.groups) for each in who.groups)


def _is_above(group: str, others: Sequence[str]) -> bool:
    """Whether it is one of these, or above one: whoever is in a group is in all groups below it."""
    return any(other == group or other.startswith(f"{group}/") for other in others)


def _without_effect(rule: PersonalRule, settings: Settings) -> Iterator[Mistake]:
    callable_toolsets = settings.callable_toolsets()
    for toolset in rule.limits.toolsets or ():
        if callable_toolsets is not None and not is_callable(toolset, callable_toolsets):
            yield Mistake(
                rule.line, f"the rule {rule.name} names the toolset {toolset}, which --toolsets leaves out."
            )
    if settings.trust and rule.limits.trust and exceeds(rule.limits.trust, Danger(settings.trust)):
        yield Mistake(
            rule.line,
            f"the rule {rule.name} trusts up to {rule.limits.trust}, and --trust only up to {settings.trust}.",
        )


def _lines(path: Path, mistakes: Sequence[Mistake]) -> list[str]:
    lines = [f"{path}:{mistake.line}: {mistake.what}" for mistake in mistakes[:_MOST_LINES]]
    more = len(mistakes) - len(lines)
    return [*lines, f"And {more} more."] if more else lines


def _entries(node: Node) -> list[Node]:
    return node.value if isinstance(node.value, list) else [node]


def _plain(node: Node) -> str | list[str]:
    if isinstance(node.value, str):
        return node.value
    texts = [each.value for each in _entries(node) if isinstance(each.value, str)]
    if not texts or len(texts) != len(_entries(node)):
        raise ValueError
    return texts


def _accepted_by(setting: Setting) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        parsed = setting.parse(value)
        if not setting.accepts(parsed) or (setting.is_limit and not parsed):
            raise ValueError
        return parsed

    return parse


def _contact(value: Any) -> str:
    line = parsers.text(value)
    if len(line) > _LONGEST_CONTACT:
        raise ValueError
    return line


def _matching(pattern: re.Pattern[str]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError
        return value

    return parse


def _user(value: Any) -> str:
    return _matching(_USER)(value).casefold()


def _group(value: Any) -> str:
    group = _matching(_GROUP)(value).casefold()
    if group.isdecimal() or len(parse_places(group)) != 1:
        raise ValueError
    return group


def _token_kind(value: Any) -> str:
    kind = parsers.word(value)
    if kind not in TOKEN_KINDS:
        raise ValueError
    return kind


def _near(word: str, known: Sequence[str]) -> str:
    near = get_close_matches(word.lower()[:100], known, n=1)
    return f" Did you mean {near[0]}?" if near else ""

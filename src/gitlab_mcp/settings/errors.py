"""SettingsError, and the failures it carries: each names the setting, where its value came from, and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure
from gitlab_mcp.settings.metadata import Setting
from gitlab_mcp.settings.parsers import LEAST_SECRET_LENGTH


class SettingsError(CallFailed):
    """The settings cannot be used. The failure names every problem, not only the first."""


def bad_value(setting: Setting, source: str) -> Failure:
    fix = f"Set {source} to {setting.expects}"
    fix += ", or remove it: empty, it would limit nothing." if setting.is_limit else "."
    return problem(setting.name, source, setting.expects, fix)


def bad_secret_file(setting: str, source: str) -> Failure:
    what = "token"
    if setting != "token_file":
        what = f"secret of at least {LEAST_SECRET_LENGTH} characters, as `openssl rand -hex 32` makes them,"
    expected = f"a readable file that holds one {what} and nothing else"
    return problem(setting, source, expected, f"Let the file named by {source} be {expected}.")


def record_with_replay(sources: Mapping[str, str]) -> Failure:
    return problem(
        "record",
        sources["record"],
        "record or replay, not both",
        f"Remove {sources['record']} or {sources['replay']}: what is replayed is recorded already.",
    )


def not_a_cassette(source: str) -> Failure:
    """What is in the file would be lost, or make every call fail."""
    expected = "a new file whose name ends in .json, or a cassette that --record wrote"
    return problem("record", source, expected, f"Let {source} name {expected}.")


def not_recordings(source: str) -> Failure:
    expected = "cassettes as --record writes them, or directories with nothing else in JSON or YAML"
    return problem("replay", source, expected, f"Let {source} name {expected}.")


def several_versions(source: str, folders: Sequence[Path]) -> Failure:
    """Together they would answer now as one GitLab and now as another."""
    expected = f"one of {', '.join(map(str, folders))}: each holds what one version of GitLab answered"
    return problem("replay", source, expected, f"Let {source} name {expected}.")


def no_such_action(setting: str, source: str, pattern: str) -> Failure:
    """A misspelt pattern would allow or forbid nothing, and nobody would notice."""
    expected = "patterns that each fit at least one action"
    fix = f"Correct {pattern!r} in {source}; `gitlab-mcp tools` lists the tools and their actions."
    return problem(setting, source, expected, fix)


def not_a_gitlab(setting: str, source: str, place: str) -> Failure:
    """A place on a GitLab that nobody can reach would allow or forbid nothing."""
    expected = "places of the GitLab of --url, or of one that --allow-gitlab-host names"
    return problem(setting, source, expected, f"Correct {place!r} in {source}, or allow its GitLab.")


def no_such_toolset(source: str, name: str, there: Sequence[str]) -> Failure:
    """Otherwise the server would start and offer nothing."""
    from difflib import get_close_matches

    near = get_close_matches(name, there, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    expected = f"names out of {', '.join(there)}, or all"
    fix = f"{source} names {name!r}, and no tools are in it. {meant}There are {', '.join(there)}, and all."
    return problem("toolsets", source, expected, fix)


def bad_tier_features(source: str, what: str) -> Failure:
    """`what` names the file and the key in it."""
    return problem("tier_features", source, "a YAML file of features, as tier_features.yaml is", f"{what}.")


def bad_policy(source: str, lines: Sequence[str]) -> Failure:
    """Each line names the file, the line in it and what is wrong there."""
    expected = "a YAML file of rules (docs/guides/policy.md)"
    return problem("policy", source, expected, " ".join(lines))


def audit_on_stdout(source: str) -> Failure:
    expected = "a file name or stderr, since the standard output belongs to the protocol"
    return problem("audit_log", source, expected, f"Set {source} to {expected}.")


def no_audit_log(source: str) -> Failure:
    expected = "an audit log to write to"
    return problem(
        "audit_required", source, expected, f"Name a file with --audit-log, or leave {source} out."
    )


def no_redis(source: str) -> Failure:
    expected = "an address of Redis, where the package redis is installed"
    return problem(
        "redis", source, expected, "Install gitlab-mcp-server with the extra `redis`, or leave it out."
    )


def two_redis_passwords(source: str) -> Failure:
    expected = "an address without a password, since --redis-password-file names one"
    return problem("redis", source, expected, f"Take the password out of {source}, or leave the file out.")


def token_exposed(source: str, address: str) -> Failure:
    """Everybody who can reach the port could act with the server's token."""
    return problem(
        "http",
        "--http",
        "an address of this machine only, as long as the server holds a token of its own",
        f"Listen on 127.0.0.1 in place of {address}, or remove {source} so that every request brings its own "
        "token, or give a secret that requests must bring with --require-bearer-file.",
    )


def problem(setting: str, source: str, expected: str, fix: str) -> Failure:
    facts = {
        "setting": setting,
        "source": source,
        "expected": expected,
        "suggested_fix": fix,
        "retryable": False,
    }
    return Failure(Code.CONFIGURATION_ERROR, f"The setting {setting} from {source} is not usable.", facts)


def combined(problems: list[Failure]) -> Failure:
    if len(problems) == 1:
        return problems[0]
    names = ", ".join(dict.fromkeys(problem.facts["setting"] for problem in problems))
    listed = [{k: v for k, v in problem.facts.items() if k != "retryable"} for problem in problems]
    fixes = " ".join(problem.facts["suggested_fix"] for problem in problems)
    return Failure(
        Code.CONFIGURATION_ERROR,
        f"{len(problems)} settings are not usable: {names}.",
        {"problems": listed, "suggested_fix": fixes, "retryable": False},
    )

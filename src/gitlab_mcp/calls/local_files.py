"""Reads the local files that a call names: over stdio alone, and only below the folder of `--upload-root`."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from gitlab_mcp.actions.action import Action
from gitlab_mcp.actions.sent_files import LARGEST_FILE, SentFile
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

_STANDS_FOR_ANOTHER: Final = 0x20000000
"""Windows sets it in the tag of whatever stands for another file or folder; not for one that a cloud keeps."""
_SEND_CONTENT: Final = "Send filename and content in place of path, with encoding base64 where it is no text."


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files of the machine that the person who calls works at, as far as the operator opened them."""

    root: Path | None
    """None: no local file may be named."""

    async def read_into(self, action: Action) -> Action:
        """The action with the content of each file it names by a path. A yes of a person is to that content."""
        named = {
            name: value for name, value in action.given().items() if any(map(_names_a_path, _each(value)))
        }
        if not named:
            return action
        if self.root is None:
            raise CallFailed(
                _refused(next(iter(named)), "No local file may be sent.", "--upload-root is not set")
            )
        read = {name: await self._read_all(name, value, self.root) for name, value in named.items()}
        return action.model_copy(update=read)

    async def _read_all(self, field: str, value: Any, root: Path) -> Any:
        """One file, or several with the content of those that have a path."""
        if not isinstance(value, list):
            return await anyio.to_thread.run_sync(self._read, field, value, root)
        return [await self._read_all(field, each, root) if _names_a_path(each) else each for each in value]

    def _read(self, field: str, file: SentFile, root: Path) -> SentFile:
        path = Path(file.path or "")
        steps = _below(root, path)
        if not steps or ".." in steps:
            raise CallFailed(_refused(field, "The file is not below --upload-root.", "another place"))
        try:
            content = _content(root, steps)
        except (FileNotFoundError, NotADirectoryError):
            raise CallFailed(_refused(field, "There is no such local file.", "no such file")) from None
        except (OSError, ValueError):
            # ELOOP for a link, ENAMETOOLONG, EACCES: none of them leads to a file that may be sent.
            raise CallFailed(
                _refused(field, "The local file cannot be read, or a step of its path is a link.", "no file")
            ) from None
        if content is None:
            raise CallFailed(_refused(field, "Only a regular file can be sent.", "no regular file"))
        if len(content) > LARGEST_FILE:
            raise CallFailed(
                Failure(Code.PAYLOAD_TOO_LARGE, "The local file is larger than this server sends.").knowing(
                    limit_type="file_size",
                    limit=LARGEST_FILE,
                    unit="bytes",
                    suggested_fix="Send a smaller file.",
                )
            )
        return file.with_content(content, steps[-1])


@dataclass(frozen=True, slots=True)
class NoLocalFiles:
    """For callers over HTTP: the files of this machine are not theirs."""

    async def read_into(self, action: Action) -> Action:
        for name, value in action.given().items():
            if any(map(_names_a_path, _each(value))):
                raise CallFailed(
                    _refused(
                        name,
                        "Over HTTP no local file can be named: it would be one of the server's.",
                        "a path",
                    )
                )
        return action


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _names_a_path(value: object) -> bool:
    return isinstance(value, SentFile) and value.path is not None


def _below(root: Path, path: Path) -> tuple[str, ...]:
    """The steps from the root to the file; none where it is elsewhere."""
    if not path.is_absolute():
        # On Windows `C:a` and `\\a` are not absolute, and yet lead elsewhere.
        return () if path.anchor else path.parts
    # The root itself may be behind a link.
    roots = (each for each in (root, root.resolve()) if path.is_relative_to(each))
    return next((path.relative_to(each).parts for each in roots), ())


def _content(root: Path, steps: tuple[str, ...]) -> bytes | None:
    """What the file holds, and one byte more than may be sent; None where it is no regular file. No step is a link."""
    file = _opened(root, steps) if os.open in os.supports_dir_fd else _opened_by_path(root, steps)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return opened.read(LARGEST_FILE + 1)


def _opened(root: Path, steps: tuple[str, ...]) -> int:
    """Each step is opened from the one before it, so nobody can swap one on the way."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in steps[:-1]:
            there = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
        return os.open(steps[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


def _opened_by_path(root: Path, steps: tuple[str, ...]) -> int:
    """On Windows, which opens nothing from a folder. Whoever can write below the root can swap a step meanwhile."""
    path = root
    for step in steps:
        if ":" in step:
            raise OSError(errno.EINVAL, "another drive, or another stream of a file")
        path /= step
        found = path.lstat()
        # A junction is no link to Python, and leads elsewhere like one.
        if path.is_symlink() or getattr(found, "st_reparse_tag", 0) & _STANDS_FOR_ANOTHER:
            raise OSError(errno.ELOOP, "a step is a link")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "no regular file")
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))


def _refused(field: str, why: str, received: str) -> Failure:
    return Failure(Code.INVALID_VALUE, why).knowing(
        invalid_fields=[
            {"field": f"{field}.path", "expected": "a file below --upload-root", "received": received}
        ],
        suggested_fix=_SEND_CONTENT,
    )

"""Reads a client's file, and replaces it as a whole: a client that reads meanwhile sees the old one or the new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from gitlab_mcp.clients.client import Refused

_LARGEST = 20_000_000


def read(path: Path) -> str | None:
    """None where there is no such file."""
    try:
        if path.stat().st_size > _LARGEST:
            raise Refused(f"{path} is too large to be a client's settings.", "Look what it is.")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Refused(f"{path} is not in UTF-8.", "Save it as UTF-8, then try again.") from None
    except (OSError, RuntimeError) as problem:
        raise _cannot("read", path, problem) from None


def replace(path: Path, before: str | None, after: str) -> Path | None:
    """Writes `after` and returns where the former file is kept. A link stays one: what it leads to is replaced.

    Refused, with nothing changed, where the file is no longer as it was read.
    """
    try:
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        # With the rights of its owner alone: the file may hold tokens of other servers.
        descriptor, name = mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except (OSError, RuntimeError) as problem:
        raise _cannot("write", path, problem) from None
    temporary, backup = Path(name), None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _give_to_the_same(temporary, target)
            backup = _copied(target)
        with _alone_in(target.parent):
            if read(path) != before:
                raise Refused(f"{path} was changed by another program meanwhile.", "Try again.")
            temporary.replace(target)
    except OSError as problem:
        _drop(temporary, backup)
        raise _cannot("write", path, problem) from None
    except BaseException:
        _drop(temporary, backup)
        raise
    return backup


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While two of us are at work, one waits. Windows has no such lock, and a moment is left between look and write."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _copied(target: Path) -> Path:
    """Beside it, under a name that nothing has yet."""
    number = 0
    while True:
        backup = target.with_name(f"{target.name}{f'.{number}' if number else ''}.bak")
        try:
            with backup.open("xb") as copy:
                _give_to_the_same(backup, target)
                copy.write(target.read_bytes())
        except FileExistsError:
            number += 1
        else:
            return backup


def _give_to_the_same(path: Path, original: Path) -> None:
    shutil.copymode(original, path)
    if hasattr(os, "chown"):
        owner = original.stat()
        with suppress(PermissionError):
            os.chown(path, owner.st_uid, owner.st_gid)


def _drop(*paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            with suppress(OSError):
                path.unlink()


def _cannot(verb: str, path: Path, problem: Exception) -> Refused:
    why = (problem.strerror or "") if isinstance(problem, OSError) else ""
    return Refused(
        f"{path} could not be {'read' if verb == 'read' else 'written'}{f': {why.lower()}' if why else ''}.",
        "Look at its rights and those of its folder, and whether the client holds it open.",
    )

"""Where tokens are kept: in the keyring of the system, or in files that their owner alone can read.

Nothing that is kept becomes part of an error: each names the account and the place.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from gitlab_mcp.accounts.credential import Credential, from_text, to_text
from gitlab_mcp.failures.codes import Code
from gitlab_mcp.failures.failure import CallFailed, Failure

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_SERVICE: Final = "gitlab-mcp"
"""The name under which the keyring shows what is ours."""
_USABLE: Final = 1
"""The least priority of a keyring that is safe, by the library's own scale."""
_NOT_THERE: Final = (FileNotFoundError, NotADirectoryError)
_SECONDS_FOR_A_RENEWAL: Final = 30.0


@dataclass(frozen=True, slots=True)
class AccountName:
    """One account of one GitLab: what is kept for it is never sent to another one."""

    url: str
    profile: str | None = None

    def __str__(self) -> str:
        return f"{self.url} ({self.profile})" if self.profile else self.url


@dataclass(frozen=True, slots=True)
class Kept:
    credential: Credential
    place: str
    """For a person."""


class _Place(Protocol):
    def __str__(self) -> str: ...

    def read(self, name: AccountName) -> str | None: ...

    def write(self, name: AccountName, text: str) -> None: ...

    def delete(self, name: AccountName) -> bool: ...


class TokenKeeper:
    """What is kept below one folder and in the keyring. Every call may wait for the system: not for an event loop."""

    def __init__(self, folder: Path, *, seconds_for_a_renewal: float = _SECONDS_FOR_A_RENEWAL) -> None:
        self._folder = folder
        self._seconds_for_a_renewal = seconds_for_a_renewal
        self._keyring: _Keyring | None = None
        self._looked_for_keyring = False

    def read(self, name: AccountName) -> Kept | None:
        for place in self._places():
            if (text := place.read(name)) is not None:
                try:
                    return Kept(from_text(text), str(place))
                except ValueError:
                    raise CallFailed(_not_readable(name, str(place))) from None
        return None

    def write(self, name: AccountName, credential: Credential) -> str:
        """Where it is kept now, and nowhere else."""
        chosen, *others = self._places()
        chosen.write(name, to_text(credential))
        for other in others:
            other.delete(name)
        return str(chosen)

    def forget(self, name: AccountName) -> bool:
        """Whether there was anything."""
        deleted = [place.delete(name) for place in self._places()]
        return any(deleted)

    @contextmanager
    def alone(self, name: AccountName) -> Iterator[None]:
        """No other process renews the account meanwhile. The system ends the lock of a process that is killed."""
        from filelock import FileLock, Timeout

        try:
            lock = FileLock(_private(self._folder) / f"{_digest(name)}.lock", mode=0o600)
            lock.acquire(timeout=self._seconds_for_a_renewal)
        except Timeout:
            raise CallFailed(_held_by_another(name)) from None
        except OSError as error:
            raise CallFailed(_not_written(name, str(self._folder))) from error
        try:
            yield
        finally:
            lock.release()

    def _places(self) -> list[_Place]:
        """The first is where new things go; in the second may be what was kept before there was a keyring."""
        if not self._looked_for_keyring:
            self._keyring, self._looked_for_keyring = _usable_keyring(), True
        files = _PrivateFiles(self._folder)
        return [self._keyring, files] if self._keyring else [files]


class _Keyring:
    def __init__(self, backend: KeyringBackend) -> None:
        self._backend = backend

    def __str__(self) -> str:
        return f"the keyring of the system ({self._backend.name})"

    def read(self, name: AccountName) -> str | None:
        with self._telling(name):
            return self._backend.get_password(_SERVICE, str(name))

    def write(self, name: AccountName, text: str) -> None:
        with self._telling(name):
            self._backend.set_password(_SERVICE, str(name), text)

    def delete(self, name: AccountName) -> bool:
        with self._telling(name):
            if self._backend.get_password(_SERVICE, str(name)) is None:
                return False
            self._backend.delete_password(_SERVICE, str(name))
        return True

    @contextmanager
    def _telling(self, name: AccountName) -> Iterator[None]:
        try:
            yield
        except CallFailed:
            raise
        except Exception:
            # Each system has errors of its own. What they say may hold what was to be kept, so it is dropped.
            raise CallFailed(_keyring_closed(name, str(self))) from None


class _PrivateFiles:
    """One file for each account, written beside and then renamed: it is whole whenever it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return f"files below {self._folder}"

    def read(self, name: AccountName) -> str | None:
        try:
            return self._file(name).read_text("utf-8")
        except _NOT_THERE:
            return None
        except (OSError, ValueError):
            raise CallFailed(_not_readable(name, str(self))) from None

    def write(self, name: AccountName, text: str) -> None:
        try:
            # mkstemp makes files that their owner alone can read.
            number, written = tempfile.mkstemp(dir=_private(self._folder), prefix=".", suffix=".new")
            try:
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                Path(written).replace(self._file(name))
            except BaseException:
                with suppress(OSError):
                    Path(written).unlink()
                raise
        except OSError as error:
            raise CallFailed(_not_written(name, str(self))) from error

    def delete(self, name: AccountName) -> bool:
        try:
            self._file(name).unlink()
        except _NOT_THERE:
            return False
        except OSError as error:
            raise CallFailed(_not_written(name, str(self))) from error
        return True

    def _file(self, name: AccountName) -> Path:
        return self._folder / f"{_digest(name)}.json"


def _usable_keyring() -> _Keyring | None:
    """None where there is none, where it is switched off, and where what there is would keep tokens in the open."""
    try:
        # Here, not above: it looks for the keyrings of the system, which takes a while.
        import keyring

        backend = keyring.get_keyring()
        return _Keyring(backend) if backend.priority >= _USABLE else None
    except Exception:
        # A keyring that cannot even be asked for its priority is none.
        return None


def _private(folder: Path) -> Path:
    """The folder, made where it is missing, for its owner alone."""
    # Windows heeds the mode since Python 3.11.10 and 3.12.4; before, the folder is as private as the person's own.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "nt" and folder.stat().st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def _digest(name: AccountName) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()[:32]


def _keyring_closed(name: AccountName, place: str) -> Failure:
    return _failure(
        f"The token of {name} is in {place}, or should be, and that does not open.",
        "Unlock the keyring and try again. To keep tokens in files in place of it, set "
        "PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring and run `gitlab-mcp init` again.",
    )


def _not_readable(name: AccountName, place: str) -> Failure:
    return _failure(
        f"What is kept for {name} in {place} cannot be read.",
        "Run `gitlab-mcp logout`, then `gitlab-mcp init` or `gitlab-mcp login`: it is kept anew then.",
    )


def _not_written(name: AccountName, place: str) -> Failure:
    return _failure(
        f"The token of {name} cannot be kept in {place}.", f"Make {place} writable, with room on the disk."
    )


def _failure(message: str, fix: str) -> Failure:
    return Failure(Code.CONFIGURATION_ERROR, message, {"suggested_fix": fix, "retryable": False})


def _held_by_another(name: AccountName) -> Failure:
    return Failure(Code.BUSY, f"Another gitlab-mcp is renewing the sign-in of {name}.").knowing(
        suggested_fix="Call again. If it stays so, end the gitlab-mcp that does not answer."
    )

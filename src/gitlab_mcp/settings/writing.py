"""Changes the settings file. What else is in it stays as it is, comments too."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from gitlab_mcp.failures.failure import Failure
from gitlab_mcp.settings.errors import SettingsError, problem


@dataclass(frozen=True, slots=True)
class Change:
    """A settings file as it is to be."""

    file: Path
    text: str

    def write(self) -> None:
        """The file is the old one or the new one at every moment. SettingsError where it cannot be written."""
        # A link stays one.
        file = self.file.resolve()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            number, written = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=".new")
            try:
                with os.fdopen(number, "w", encoding="utf-8", newline="") as new:
                    new.write(self.text)
                    new.flush()
                    os.fsync(new.fileno())
                if file.exists():
                    Path(written).chmod(file.stat().st_mode & 0o777)
                Path(written).replace(file)
            except BaseException:
                with suppress(OSError):
                    Path(written).unlink()
                raise
        except OSError:
            raise SettingsError(_not_written(self.file)) from None


def changed(file: Path, values: Mapping[str, str], profile: str | None = None) -> Change:
    """With these values, at the top or in the table of a profile. SettingsError where the file cannot be read."""
    try:
        before = file.read_bytes().decode("utf-8") if file.exists() else ""
        document = tomlkit.parse(before)
        if profile is None:
            document.update(values)
        else:
            if "profiles" not in document:
                document["profiles"] = tomlkit.table(is_super_table=True)
            profiles = document["profiles"]
            if profile not in profiles:
                profiles[profile] = tomlkit.table()
            profiles[profile].update(values)
    except (OSError, ValueError, TypeError, AttributeError, TOMLKitError):
        raise SettingsError(_not_readable(file)) from None
    return Change(file, tomlkit.dumps(document))


def _not_readable(file: Path) -> Failure:
    fix = f"Correct {file} or move it away, then run the command again."
    return problem("config", str(file), "a TOML file in UTF-8", fix)


def _not_written(file: Path) -> Failure:
    return problem("config", str(file), "a file that can be written", f"Make {file} and its folder writable.")

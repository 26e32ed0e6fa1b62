"""Imports requests without what it would guess the encoding of a text with: that takes 3 MB, and no text is left to it.

requests can do without, and has a warning for those who did not mean it.
"""

from __future__ import annotations

import sys
import warnings
from typing import Final

_GUESS: Final = ("chardet", "charset_normalizer")


def import_requests() -> None:
    absent = [name for name in _GUESS if name not in sys.modules]
    for name in absent:
        # What is None here cannot be imported.
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import requests  # noqa: F401
    finally:
        for name in absent:
            del sys.modules[name]

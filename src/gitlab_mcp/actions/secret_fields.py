"""Which arguments hold secrets: their values are never said back to whoever sent them."""

from __future__ import annotations

import re
from typing import Final

_SECRET: Final = re.compile(
    r"(?:^|_)(?:token|password|secret|(?:private|signing|access|api)_key|value|variables|url|content|file)$"
    r"|^job_variables_attributes$"
)


def is_secret(name: str) -> bool:
    """Whether values of the field are kept back. URLs may hold a password, contents and variables anything."""
    return _SECRET.search(name) is not None

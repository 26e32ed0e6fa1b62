"""requests is imported without what it would guess encodings with, and misses nothing."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from gitlab_mcp.gitlab.lean_requests import import_requests
import_requests()
assert "charset_normalizer" not in sys.modules and "chardet" not in sys.modules
import requests
answer = requests.Response()
answer._content = "Grüße".encode()
assert answer.text == "Grüße"
import charset_normalizer
import_requests()
assert "charset_normalizer" in sys.modules
"""


def test_without_a_warning_and_others_can_still_import_it() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

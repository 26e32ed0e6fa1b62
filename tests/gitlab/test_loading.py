from __future__ import annotations

import subprocess
import sys


def test_the_http_libraries_are_not_loaded_before_the_first_request() -> None:
    script = (
        "import sys, gitlab_mcp.gitlab.client as client\n"
        "client.Upstream('https://gitlab.example.com', client.Timeouts(1, 1, 1)).as_caller('t')\n"
        "print(sorted({'gitlab', 'requests', 'urllib3', 'vcr', 'yaml'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"

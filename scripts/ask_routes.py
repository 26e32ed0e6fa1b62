"""Which endpoints a live GitLab lacks. Reads only: GET, of a project, group and so on with the number 0.

    GITLAB_TOKEN=... python scripts/ask_routes.py https://gitlab.example.com [endpoints.txt]

Asked are the endpoints that our actions read, or those of a file, one a line. Where GitLab has no such route it
answers `{"error":"404 Not Found"}`; where it has, it names what is missing. An endpoint that is printed is not there.
On a CE that is what only EE has; on a new version, what is gone. One request at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from gitlab_mcp.actions.registry import Registry
from gitlab_mcp.api.endpoints import normalised

NO_ROUTE = {"error": "404 Not Found"}


def read_by_us() -> list[str]:
    return sorted(
        {
            str(endpoint)
            for action in Registry().actions()
            for endpoint in action.spec.endpoints
            if endpoint.method == "GET"
        }
    )


def lacking(url: str, endpoints: Iterable[str], token: str | None) -> Iterator[str]:
    for endpoint in endpoints:
        method, _, path = endpoint.partition(" ")
        if method != "GET":
            continue
        address = f"{url.rstrip('/')}/api/v4{re.sub(r'[*]', '0', normalised(path))}?per_page=1"
        request = urllib.request.Request(address, headers={"PRIVATE-TOKEN": token} if token else {})
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404 and _json(refusal.read()) == NO_ROUTE:
                yield endpoint


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("endpoints", type=Path, nargs="?")
    chosen = parser.parse_args()
    file = chosen.endpoints
    asked = [line.lstrip("+-~? ") for line in file.read_text("utf-8").splitlines()] if file else read_by_us()
    for endpoint in lacking(chosen.url, asked, os.environ.get("GITLAB_TOKEN")):
        print(endpoint)
    return 0


if __name__ == "__main__":
    sys.exit(main())

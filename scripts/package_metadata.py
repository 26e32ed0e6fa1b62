"""What the package says of itself that depends on where its home is: its addresses, and links in the README.

PROJECT_URL is that home. A release sets it; without it, the package names no address and the links stay as they are.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

NAME = "gitlab-mcp-server"
_RELATIVE_LINK = re.compile(r'(\]\(|(?:src|href)=")(?![a-z][a-z+.-]*:|#|/)([^)"\s]+)')
_OF_GITHUB = "https://github.com/"


class PackageMetadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get("PROJECT_URL", "").rstrip("/")
        readme = (Path(self.root) / "README.md").read_text("utf-8")
        if home:
            metadata["urls"] = addresses(home)
            readme = with_whole_links(readme, home, os.environ.get("PROJECT_REF", "HEAD"))
            readme += f"\n<!-- mcp-name: {registry_name(home)} -->\n"
        else:
            metadata["urls"] = {}
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def addresses(home: str) -> dict[str, str]:
    between = "" if home.startswith(_OF_GITHUB) else "/-"
    return {
        "Homepage": home,
        "Documentation": f"{home}{between}/tree/HEAD/docs",
        "Source": home,
        "Issues": f"{home}{between}/issues",
        "Changelog": f"{home}{between}/blob/HEAD/CHANGELOG.md",
        "Releases": f"{home}{between}/releases",
    }


def with_whole_links(page: str, home: str, ref: str) -> str:
    """Links to files of the project as links into `ref` at its home; pictures as the files themselves."""
    between = "" if home.startswith(_OF_GITHUB) else "/-"

    def whole(found: re.Match[str]) -> str:
        kind = "raw" if found[2].endswith((".svg", ".png")) else "tree" if found[2].endswith("/") else "blob"
        return f"{found[1]}{home}{between}/{kind}/{ref}/{found[2]}"

    return _RELATIVE_LINK.sub(whole, page)


def registry_name(home: str) -> str:
    """The name in the MCP registry: the namespace of whoever owns the home, then the server's."""
    host, _, path = home.partition("://")[2].partition("/")
    owner = path.partition("/")[0]
    namespace = (
        f"io.github.{owner}" if host == "github.com" else ".".join(reversed(host.split(":")[0].split(".")))
    )
    return f"{namespace}/{NAME}"

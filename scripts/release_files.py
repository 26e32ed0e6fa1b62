"""The files that tell clients and the MCP registry of a release.

python scripts/release_files.py manifest                 of the bundle for desktop clients
python scripts/release_files.py registry BUNDLE.mcpb     server.json for the MCP registry; needs PROJECT_URL
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import jsonschema
from package_metadata import NAME, addresses, registry_name

from gitlab_mcp import __doc__ as about
from gitlab_mcp import __version__
from gitlab_mcp.settings import SETTINGS

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
OFFERED = ("url", "token", "read_only", "toolsets")
"""The settings that a registry's client asks for."""


def manifest(home: str) -> dict[str, Any]:
    """What is in deploy/bundle.json, with what a release knows."""
    told: dict[str, Any] = json.loads((DEPLOY / "bundle.json").read_text("utf-8"))
    told |= {"version": __version__, "description": about}
    if home:
        pages = addresses(home)
        told |= {
            "homepage": home,
            "documentation": pages["Documentation"],
            "support": pages["Issues"],
            "repository": {"type": "git", "url": f"{home}.git"},
        }
    return told


def registry_entry(home: str, bundle: Path) -> dict[str, Any]:
    """ValidationError where the registry would refuse it."""
    schema = json.loads((DEPLOY / "server.schema.json").read_text("utf-8"))
    variables = [_variable(each.name) for each in SETTINGS if each.name in OFFERED]
    transport = {"type": "stdio"}
    entry = {
        "$schema": schema["$id"],
        "name": registry_name(home),
        "title": "GitLab",
        "description": about,
        "version": __version__,
        "websiteUrl": home,
        "repository": {"url": home, "source": "github" if "//github.com/" in home else "gitlab"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": NAME,
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": transport,
                "environmentVariables": variables,
            },
            {
                "registryType": "mcpb",
                "identifier": _download(home, bundle.name),
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": transport,
                "environmentVariables": variables,
            },
        ],
    }
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(entry)
    return entry


def _variable(name: str) -> dict[str, Any]:
    setting = next(each for each in SETTINGS if each.name == name)
    default = setting.written_default
    return {
        "name": setting.environment[0],
        "description": setting.help,
        **({"isSecret": True, "isRequired": True} if setting.secret else {}),
        **({"format": "boolean"} if setting.switch else {}),
        **({"default": default} if default else {}),
    }


def _download(home: str, file: str) -> str:
    if home.startswith("https://github.com/"):
        return f"{home}/releases/download/v{__version__}/{file}"
    return f"{home}/-/releases/v{__version__}/downloads/{file}"


def main(what: str, *files: str) -> int:
    home = os.environ.get("PROJECT_URL", "").rstrip("/")
    if what == "registry" and not home:
        sys.stderr.write(
            "server.json was not made: it names where the bundle is downloaded. Set PROJECT_URL.\n"
        )
        return 1
    told = manifest(home) if what == "manifest" else registry_entry(home, Path(files[0]))
    print(json.dumps(told, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

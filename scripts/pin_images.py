"""Pin the images of others by digest, in every file that names one.

python scripts/pin_images.py            ask the registries, with docker, and write the digests into the files
python scripts/pin_images.py --check    fail where an image has no digest, or two different ones; asks nobody
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FILES: Final = ("Dockerfile", "compose.yaml", "deploy/kubernetes.yaml")
_OUR_OWN: Final = "gitlab-mcp-server"
_NAMED: Final = re.compile(
    r"^(\s*(?:-\s+)?image:\s*|ARG BASE=)([a-z0-9][\w./-]*:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?", re.MULTILINE
)
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def named_in(root: Path) -> dict[str, set[str | None]]:
    """The images of others, each with the digests it has; None where it has none."""
    found: dict[str, set[str | None]] = {}
    for file in FILES:
        for each in _NAMED.finditer((root / file).read_text("utf-8")):
            if not each[2].startswith(_OUR_OWN):
                found.setdefault(each[2], set()).add(each[3])
    return found


def unpinned(root: Path) -> list[str]:
    """The images that are not one and the same wherever they are named."""
    return [image for image, digests in named_in(root).items() if None in digests or len(digests) > 1]


def pin(root: Path, digest_of: Callable[[str], str]) -> dict[str, str]:
    digests = {image: digest_of(image) for image in named_in(root)}

    def pinned(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}@{digests[found[2]]}" if found[2] in digests else found[0]

    for file in FILES:
        text = (root / file).read_text("utf-8")
        (root / file).write_text(_NAMED.sub(pinned, text), "utf-8")
    return digests


def ask_registry(image: str) -> str:
    """The digest of the image for all platforms."""
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    digest = answer.stdout.strip()
    if not _DIGEST.fullmatch(digest):
        raise SystemExit(f"No digest of {image}. Docker with buildx says: {answer.stderr.strip() or digest}")
    return digest


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        missing = unpinned(ROOT)
        print(f"Not pinned: {', '.join(missing)}. Run `make pin`." if missing else "Every image is pinned.")
        return 1 if missing else 0
    try:
        digests = pin(ROOT, ask_registry)
    except FileNotFoundError:
        raise SystemExit("docker is needed to ask the registries.") from None
    print("\n".join(f"{image}@{digest}" for image, digest in digests.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draw docs/demo.svg: what `make demo` shows of one step, as a terminal shows it.

python scripts/demo_picture.py
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/demo.svg"
STEP = "A paid feature, refused and explained"
COLUMNS = 100
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""As rich draws it, without the fonts that it would fetch from elsewhere."""


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("$ make demo\n…\n\n" + step(shown())))
    PICTURE.write_text(
        console.export_svg(title="", theme=MONOKAI, code_format=FORMAT, unique_id="demo"), "utf-8"
    )
    print(f"Drew {PICTURE.relative_to(ROOT)}.")


def shown() -> str:
    """What the tour shows on a terminal, with its colours."""
    reading, writing = pty.openpty()
    environ = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    environ.pop("NO_COLOR", None)
    tour = subprocess.Popen(["make", "--silent", "demo"], cwd=ROOT, env=environ, stdout=writing)
    os.close(writing)
    said = b""
    try:
        while more := os.read(reading, 65_536):
            said += more
    except OSError:
        # The other end of a terminal ends with an error.
        pass
    assert tour.wait() == 0
    return said.decode().replace("\r\n", "\n")


def step(tour: str) -> str:
    """One step of the tour, from its title to the next."""
    starts = [found.start() for found in re.finditer(r"^\S*\d  .*\n\S*─", tour, re.MULTILINE)]
    (here,) = (number for number, start in enumerate(starts) if STEP in tour[start:].partition("\n")[0])
    return tour[starts[here] : starts[here + 1]].rstrip()


if __name__ == "__main__":
    main()

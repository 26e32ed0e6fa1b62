"""The one table of characters that nobody sees, and everybody who uses it."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from gitlab_mcp.cli.terminal import printable
from gitlab_mcp.failures.invisible_characters import INVISIBLE
from gitlab_mcp.refusals.body import one_line
from gitlab_mcp.results.text_cleaning import remove_invisible

SHOWN = {
    *"\t\n",
    *map(chr, (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)),
    *map(chr, range(0x13430, 0x13440)),
}
"""Format characters that a reader sees: Arabic and Kaithi number signs, the shape of hieroglyphs."""
EMOJI_STYLES = "\ufe0e\ufe0f"
NOT_IN_ANY_FORMAT_CATEGORY = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u2028\u2029\u3164\ufe00\uffa0\uffff\U000e0100"
)


def test_every_control_format_and_private_character_is_in_the_table() -> None:
    hidden = {
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Co")
    }
    assert {character for character in hidden if not INVISIBLE.fullmatch(character)} <= SHOWN


@pytest.mark.parametrize("character", NOT_IN_ANY_FORMAT_CATEGORY, ids=ascii)
def test_a_character_that_is_invisible_for_another_reason_is_in_the_table(character: str) -> None:
    assert INVISIBLE.fullmatch(character)


@pytest.mark.parametrize("character", [*"aé漢 \N{REPLACEMENT CHARACTER}", "\N{GRINNING FACE}"], ids=ascii)
def test_a_character_that_is_seen_stays(character: str) -> None:
    assert not INVISIBLE.search(character)


@pytest.mark.parametrize(
    "character", ["\u202e", "\u200b", "\ue000", "\U000f0000", "\u180b", "\U0001d173"], ids=ascii
)
def test_results_messages_and_the_terminal_agree_on_what_is_invisible(character: str) -> None:
    assert remove_invisible(f"a{character}b").value == "ab"
    assert printable(f"a{character}b") == "ab"
    assert one_line(f"a{character}b") == "a b"


@pytest.mark.parametrize("style", EMOJI_STYLES, ids=ascii)
def test_one_emoji_style_stays_and_a_run_of_them_does_not(style: str) -> None:
    assert remove_invisible(f"❤{style * 5}").value == f"❤{style}"

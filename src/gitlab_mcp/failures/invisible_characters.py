"""The characters that a person does not see and a model reads: instructions can be hidden in them."""

from __future__ import annotations

import re
from typing import Final

# Tab and line feed stay. So does U+FFFD, which is visible and stands for bytes that are not UTF-8. U+FE0E and U+FE0F
# stay once after a character, where they choose how an emoji looks; a run of them can carry bytes.
INVISIBLE: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls
    "\u00ad\u034f\u180b-\u180f\u200b-\u200f\u2060-\u206f\ufeff"  # soft hyphen, joiners, zero widths
    "\u061c\u202a-\u202e"  # direction of writing
    "\u2028\u2029"  # line and paragraph separators
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # fillers
    "\ufe00-\ufe0d\U000e0000-\U000e0fff"  # variation selectors, tags
    "\ufff0-\ufffc\ufffe\uffff"  # annotations, noncharacters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff"  # surrogates, private use
    "]|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)


def without_invisible(text: str) -> str:
    return INVISIBLE.sub("", text)

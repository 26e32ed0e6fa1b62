"""Words of other people lose what nobody sees, whatever it is and wherever it stands."""

from __future__ import annotations

import sys

from gitlab_mcp.results.untrusted import clean, clean_all
from tests.support.for_each import for_each


@for_each(range(0, sys.maxunicode, 0x10000), hex)
def test_a_json_value_is_cleaned_as_its_texts_are(plane: int) -> None:
    characters = [chr(code) for code in range(plane, plane + 0x10000) if not 0xD800 <= code <= 0xDFFF]
    for start in range(0, len(characters), 64):
        text = "x".join(characters[start : start + 64])
        cleaned = clean_all({"a": [text]})
        assert (cleaned.value["a"], cleaned.removed) == ([clean(text).value], clean(text).removed)

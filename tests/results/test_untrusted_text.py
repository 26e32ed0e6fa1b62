"""Words of other people lose what nobody sees, whatever it is and wherever it stands."""

from __future__ import annotations

import sys

from gitlab_mcp.results.text_cleaning import remove_invisible, remove_invisible_in_json
from tests.support.for_each import for_each


@for_each(range(0, sys.maxunicode, 0x10000), hex)
def test_a_json_value_is_cleaned_as_its_texts_are(plane: int) -> None:
    characters = [chr(code) for code in range(plane, plane + 0x10000) if not 0xD800 <= code <= 0xDFFF]
    for start in range(0, len(characters), 64):
        text = "x".join(characters[start : start + 64])
        cleaned = remove_invisible_in_json({"a": [text]})
        assert (cleaned.value["a"], cleaned.removed) == (
            [remove_invisible(text).value],
            remove_invisible(text).removed,
        )

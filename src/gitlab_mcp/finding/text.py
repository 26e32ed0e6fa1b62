"""Text becomes terms: the words that mean something, without their endings, and phrases that are one thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+")
_AGAIN: Final = re.compile(r"\bre-(?=[a-z])")
_JOINED: Final = (
    ("git hub", "github"),
    ("git lab", "gitlab"),
    ("bit bucket", "bitbucket"),
    ("dev ops", "devops"),
    ("ci/cd", "cicd"),
    ("ci-cd", "cicd"),
    ("ci_cd", "cicd"),
    ("e-mail", "email"),
    ("2fa", "twofactor"),
)
_STOP_WORDS: Final = (
    "a an the of to for from in on at by with without as and or is are was were be been am it its this that these those"
    " i me my we us our you your they them their he him his she her hers there here please want wants need needs"
    " would like should could can cannot can't dont don't do does did has have had having how let lets so some"
    " any just now right below above under over every each again into onto about via using use gitlab s t re what"
    " which when where how api rest programmatically possible able way anyone"
)
_AS_THEY_ARE: Final = {"settings": "settings", "setting": "settings", "series": "series", "status": "status",
    "statuses": "status", "aliases": "alias", "bus": "bus", "dependencies": "dependency", "licence": "license",
    "licences": "license", "licenses": "license", "people": "people", "being": "", "string": "string",
    "issues": "issue", "thing": "", "things": "", "something": "", "nothing": "", "everything": "all",
    "everybody": "everybody", "release": "release", "releases": "release", "user": "user", "users": "user",
    "analyses": "analysis", "rotated": "rotate", "pages": "pages", "page": "page", "signing": "sign",
    "signed": "sign", "signature": "sign", "blaming": "blame"}  # fmt: skip


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without its ending: of `protected`, `protection` and `protects`, `protect`."""
    if word in _AS_THEY_ARE:
        return _AS_THEY_ARE[word]
    if len(word) <= 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("ches", "shes", "xes", "sses", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (("ing", 6), ("ed", 5), ("ion", 6), ("al", 7)):
        if word.endswith(ending) and len(word) >= least:
            word = _undoubled(word[: -len(ending)])
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _undoubled(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz" else word


def words(text: str) -> list[str]:
    """In lower case and without accents; `createMergeRequest` is three."""
    plain = _CAMEL.sub(" ", text).casefold()
    if not plain.isascii():
        letters = unicodedata.normalize("NFKD", plain)
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    plain = _AGAIN.sub("re", plain)
    for written, meant in _JOINED:
        plain = plain.replace(written, meant)
    return _WORD.findall(plain)


STOP_WORDS: Final = frozenset(map(stem, _STOP_WORDS.split()))


class Phrases:
    """Phrases that are one thing: `pull request`, `merge requests` and `MR` are `merge_request`."""

    def __init__(self, meanings: Mapping[str, Sequence[str]]) -> None:
        self._meanings: dict[tuple[str, ...], str] = {}
        for meant, phrases in meanings.items():
            for phrase in phrases:
                self._meanings[tuple(map(stem, words(phrase)))] = meant
        self._longest = max(map(len, self._meanings), default=1)
        self._starts = {phrase[0] for phrase in self._meanings}

    def knows(self) -> set[str]:
        """The words that phrases are made of."""
        return {word for phrase in self._meanings for word in phrase}

    def terms(self, text: str, mended: Callable[[str], str] = str) -> list[str]:
        """`mended`: another word in place of a misspelt one."""
        stems = [mended(stem(word)) for word in words(text)]
        terms: list[str] = []
        start = 0
        while start < len(stems):
            length, term = self._at(stems, start)
            if term and (length > 1 or not (term in STOP_WORDS or term.isdigit())):
                terms.append(term)
            start += length
        return terms

    def _at(self, stems: list[str], start: int) -> tuple[int, str]:
        if stems[start] in self._starts:
            for length in range(min(self._longest, len(stems) - start), 0, -1):
                meant = self._meanings.get(tuple(stems[start : start + length]))
                if meant is not None:
                    return length, meant
        return 1, stems[start]

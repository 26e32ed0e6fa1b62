"""The words that names are made of: which are the same word, which are typos, and which mean the same verb."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

VERBS = {
    "create": ("new", "add", "make", "open", "insert", "post"),
    "get": ("show", "read", "view", "fetch", "retrieve", "detail", "details", "info", "describe", "inspect"),
    "update": ("edit", "modify", "change", "patch", "alter", "set"),
    "delete": ("remove", "destroy", "drop", "erase"),
    "list": ("index", "all", "ls", "browse", "enumerate"),
    "search": ("find", "query", "lookup", "grep", "filter"),
    "cancel": ("stop", "abort", "kill"),
    "retry": ("rerun", "restart", "redo"),
}
"""Each verb of ours with the words people use for it. Where an action of that other name exists, it is meant."""

SAME_VERB = {other: verb for verb, others in VERBS.items() for other in (verb, *others)}

_WORDS = """
accept activate add after all alter and any append apply approve archive assign auto base before
block body bot branch by cancel change check clone close code color comment commit compare config
content copy count create current data date day deactivate delete deploy description detail diff
disable discard discussion download draft drop due edit email enable end env environment epic erase
event execute expire export fetch field file filter find first fix force fork format from get group
head hide hook id ids iid iids import index info init invite is issue item job join key kind label
last latest leave level limit line link lint list load lock log mail main mark member merge message
milestone mine mirror mode month more move name new next note notes old on only open order owner
package page parent patch path pause pick pin pipeline play policy post prefix private project
promote protect public publish pull purge push query read ready rebase recover ref refs regex
register reject release remove rename reopen reorder reply report request reset resolve restart
restore result resume retry revert review role root rule run runner save scan schedule scope search
secret send set sha share show sign size skip slug snippet sort source spend squash stage star start
state status stop subject submit sync tag tail target task team test text thread tier time title to
todo token topic trace transfer trigger type unapprove unarchive unassign undo unlabel unlink unlock
unpin unprotect unresolve unshare unstar unsubscribe untag update upload url user validate value
variable verify version view visibility wait watch week weight wiki with work write year
"""
COMMON_WORDS = frozenset(_WORDS.split())
"""A word of its own is never the misspelling of another: `close` is no typo of `clone`."""


_LONGEST_NAME = 64
"""Twice the longest name of ours."""


def is_short_name(name: str) -> bool:
    """Whether a name is worth reading as one of ours: a longer one is none, and would take long to take apart."""
    return len(name) <= _LONGEST_NAME


@lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """`merge_request_iid` for mergeRequestIid, merge-request-iid and Merge Request IID."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s\-.]+", "_", parted).lower().strip("_")


def stem(word: str) -> str:
    """A word without its plural ending: of branches and branch, `branch`."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "xes", "sses")):
        return word[:-2]
    return (
        word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2 else word
    )


@lru_cache(maxsize=8192)
def stems(name: str) -> tuple[str, ...]:
    """The words of a name, each without its plural ending."""
    return tuple(stem(word) for word in name.split("_") if word)


def same_words(name: str, known: Iterable[str]) -> list[str]:
    """The known names of the same words in any order and number: `add_labels` for labels_add."""
    wanted = sorted(stems(name))
    return [each for each in known if sorted(stems(each)) == wanted]


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """The one known name that differs only by a typo. A word that means something is not taken for a typo."""
    found = [each for each in known if _is_typo(name, each)]
    return found[0] if len(found) == 1 else None


def _is_typo(name: str, meant: str) -> bool:
    allowed = 0 if len(meant) < 3 else 1 if len(meant) < 7 else 2
    if name == meant or distance(name, meant) > allowed:
        return False
    words, others = set(name.split("_")), set(meant.split("_"))
    return not any(stem(word) in COMMON_WORDS or word in COMMON_WORDS for word in words - others)


def distance(one: str, other: str) -> int:
    """How many letters were added, left out, replaced or swapped."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, opposite in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != opposite))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == opposite:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]

"""The search: BM25F over what is known of each action, with other words, typos, and the kind of call a verb asks for.

It is deterministic, holds no state between questions, and is built once, from texts alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from gitlab_mcp.actions.arguments.words import distance
from gitlab_mcp.finding.endpoints import Endpoints
from gitlab_mcp.finding.text import STOP_WORDS, Phrases, stem, words
from gitlab_mcp.finding.words import ASKED, ELSEWHERE, LIGHT, MEANS, MEANT_WITH, PATHS, SAME, VERBS

_FIELDS: Final[Mapping[str, tuple[float, float]]] = {
    "name": (3.0, 0.3),
    "asked": (2.4, 0.2),
    "also": (2.0, 0.3),
    "says": (1.4, 0.5),
    "section": (1.4, 0.3),
    "path": (1.2, 0.3),
    "about": (0.6, 0.3),
    "takes": (0.35, 0.6),
}
"""By field of an action: what a word in it counts, and how much less in a long one."""
_SATURATION: Final = 0.6
_OTHER_WORD: Final = 0.5
_ALIKE: Final = 0.75
_OWN_WORDS: Final = 0.5
_OF_A_PHRASE: Final = 0.8
_PLAIN_VERB: Final = 0.45
_AROUND: Final = 0.25
_UNASKED: Final[Mapping[str, float]] = {"read": 1.08, "delete": 0.85}
"""Where no verb says what is to be done, something is rather to be shown, and seldom to be deleted."""
_THE_NOUN: Final = 1.15
"""Where the question names all that an action is about."""
_COVERING: Final = 0.55
"""How much it counts that nothing is left over of what was asked."""
_SHORTEST_TYPO: Final = 5
"""A shorter one may be anything: `john` is a name, and no `join`."""
_GUESSED: Final = 0.7
"""What a word counts that stands in place of one that nobody knows: that may be a name."""
_MOST_TERMS: Final = 40
"""Of a question. Longer ones are cut: what matters stands at the beginning."""
_LEAST_SHARE: Final = 0.3
"""Of the best hit's score; what has less is no answer."""
_EXACT: Final = 100_000.0
_GROUP: Final = frozenset(("group", "sub_group", "organization", "organisation", "org", "team"))
_A_FILE: Final = re.compile(r"(?<![\w/:.])[\w.-]+(?:/[\w.-]+)+\.\w{1,5}\b")
_A_VERSION: Final = re.compile(r"\bv?\d+(?:\.\d+)+\b")
_ARTICLES: Final = frozenset(("a", "an", "the", "this", "that", "my", "our", "your", "its"))
_NOUNS_TOO: Final = frozenset(
    (
        "file",
        "report",
        "patch",
        "post",
        "change",
        "check",
        "list",
        "view",
        "count",
        "set",
        "sign",
        "start",
        "tag",
        "label",
        "log",
    )
)
"""Verbs only where the question begins with them: `file a bug`, but `contents of a file`."""
_ASKS: Final = frozenset(("which", "who", "whose", "why", "is", "are", "was", "were", "did", "does", "has"))
_ASKS_OR_SAYS: Final = frozenset(("what", "where", "when", "how"))
_ASKING: Final = frozenset(("who", "whose", "why", "many", "search"))
_OF_EVERY_NAME: Final = frozenset(
    map(
        stem,
        (
            "browse",
            "manage",
            "project",
            "group",
            "admin",
            "own",
            "user",
            "details",
            "instance",
            "integration",
        ),
    )
)
"""Words of a tool's name that say where it is used, or by whom."""
_OVERVIEWS: Final = frozenset(("list", "overview", "status", "details", "history"))
"""At the end of a question, they say that something is to be shown: `members list`."""
_INSTANCE: Final = frozenset(("instance", "administrator", "admin", "server"))


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of one action."""

    name: str
    """`manage_label create`."""
    texts: Mapping[str, str]
    """By the names of `_FIELDS`."""
    endpoints: tuple[str, ...]
    kind: str
    """Of a verb: create, update, delete, read; empty where it does something else."""
    weight: float = 1.0
    lists: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    name: str
    score: float


@dataclass(slots=True)
class _Concept:
    """One thing that is asked for: the terms that say it, with how surely."""

    terms: dict[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class _Indexed:
    name: str
    kind: str
    scopes: frozenset[str]
    weight: float
    lists: bool
    noun: frozenset[str]
    """What it is about, by its name: of `project_pages_domain.create`, `pages_domain`."""


@dataclass(slots=True)
class Index:
    _documents: list[_Indexed] = field(default_factory=list)
    _postings: dict[str, dict[int, float]] = field(default_factory=dict)
    _endpoints: Endpoints = field(default_factory=Endpoints)
    _grams: dict[str, list[str]] = field(default_factory=dict)
    _said: dict[str, list[int]] = field(default_factory=dict)
    """By term, the phrases that hold it."""
    _phrases: list[tuple[int, float]] = field(default_factory=list)
    """Of each, the number of its action, and how much its terms count."""
    _said_of: list[tuple[int, list[str]]] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)
    _endpoints_of: dict[str, frozenset[str]] = field(default_factory=dict)

    def search(self, query: str) -> list[Hit]:
        """The actions that do it, the likeliest first."""
        exact = [name for name in (self._named(query), *self._endpoints.find(query)) if name]
        found = {name: _EXACT - 100 * number for number, name in enumerate(dict.fromkeys(exact))}
        asked = _Question(query, self._mended)
        concepts = self._concepts(asked)
        for number, score in self._scores(concepts).items():
            document = self._documents[number]
            score *= document.weight * asked.fits(document)
            found[document.name] = found.get(document.name, 0.0) + score
        hits = sorted(
            (Hit(name, score) for name, score in found.items()), key=lambda hit: (-hit.score, hit.name)
        )
        least = hits[0].score * _LEAST_SHARE if hits and hits[0].score < _EXACT / 2 else 0.0
        return [hit for hit in hits if hit.score > least]

    def names(self) -> list[str]:
        return list(self._endpoints_of)

    def endpoints_of(self, name: str) -> frozenset[str]:
        """The endpoints of an action, whatever their ids are called."""
        return self._endpoints_of[name]

    def has(self, answer: str) -> bool:
        """Whether an action of this name, or with this endpoint, is in it."""
        return answer in self._endpoints_of or any(answer in known for known in self._endpoints_of.values())

    def _named(self, query: str) -> str | None:
        return self._names.get("_".join(words(query)))

    def _concepts(self, asked: _Question) -> list[_Concept]:
        concepts = []
        for terms, weight in asked.spans:
            known = {term: each for term, each in terms.items() if term in self._postings}
            for term in list(known):
                if term == next(iter(terms)) and (others := _MEANINGS.get((term,))):
                    known |= {
                        other: _OTHER_WORD
                        for other in others
                        if other in self._postings and other not in known
                    }
            if known:
                concepts.append(_Concept(known, weight))
        return concepts

    def _scores(self, concepts: Sequence[_Concept]) -> dict[int, float]:
        total = 0.0
        scores: dict[int, float] = {}
        matched: dict[int, float] = {}
        for concept in concepts:
            mass = self._rarity(concept) * concept.weight
            total += mass
            best: dict[int, float] = {}
            for term, sure in concept.terms.items():
                for number, count in self._postings[term].items():
                    value = mass * sure * count / (_SATURATION + count)
                    if value > best.get(number, 0.0):
                        best[number] = value
            for number, value in best.items():
                scores[number] = scores.get(number, 0.0) + value
                matched[number] = matched.get(number, 0.0) + mass
        scores = {number: score * (matched[number] / total) ** _COVERING for number, score in scores.items()}
        for number, alike in self._alike(concepts, total).items():
            scores[number] += _ALIKE * alike * total
        return scores

    def _alike(self, concepts: Sequence[_Concept], total: float) -> dict[int, float]:
        """How alike the question is to what people say who want an action: the nearest of these phrases."""
        shared: dict[int, float] = {}
        for concept in concepts:
            mass = self._rarity(concept) * concept.weight
            best: dict[int, float] = {}
            for term, sure in concept.terms.items():
                for phrase in self._said.get(term, ()):
                    best[phrase] = max(best.get(phrase, 0.0), mass * sure)
            for phrase, value in best.items():
                shared[phrase] = shared.get(phrase, 0.0) + value
        alike: dict[int, float] = {}
        for phrase, value in shared.items():
            number, mass = self._phrases[phrase]
            # As if of the phrase as much were left out as it holds words that the question lacks.
            alike[number] = max(alike.get(number, 0.0), value * value / (max(mass, value) * total))
        return alike

    def _rarity(self, concept: _Concept) -> float:
        """A rare word among those that say it makes it no rarer."""
        lists = [self._postings[term] for term in concept.terms]
        having = len(lists[0]) if len(lists) == 1 else len(set().union(*lists))
        return math.log(1 + (len(self._documents) - having + 0.5) / (having + 0.5))

    def _mended(self, written: str) -> str:
        """The word that is meant by one that nobody knows: the nearest by spelling, if there is one."""
        if len(written) < _SHORTEST_TYPO or written in self._known or written in STOP_WORDS:
            return written
        shared: dict[str, int] = {}
        for gram in _trigrams(written):
            for term in self._grams.get(gram, ()):
                shared[term] = shared.get(term, 0) + 1
        shared = {term: count for term, count in shared.items() if not _is_opposite(term, written)}
        likely = sorted(shared, key=lambda term: (-shared[term] / (len(term) + len(written)), term))[:12]
        far = 1 if len(written) < 6 else 2
        steps, nearest = min(((distance(written, term), term) for term in likely), default=(far + 1, ""))
        return nearest if steps <= far else written

    def add(self, document: Document) -> None:
        number = len(self._documents)
        scopes = frozenset(scope for endpoint in document.endpoints for scope in _scopes(endpoint))
        tool = re.split(r"[ .]", document.name)[0].replace("_", " ")
        noun = frozenset(_terms(tool)) - _OF_EVERY_NAME or frozenset(_terms(tool))
        indexed = _Indexed(document.name, document.kind, scopes, document.weight, document.lists, noun)
        self._documents.append(indexed)
        self._endpoints.add(document.name, document.endpoints)
        self._endpoints_of[document.name] = frozenset(map(plain_endpoint, document.endpoints))
        for name in filter(None, (document.name, *document.texts.get("names", "").split(";"))):
            self._names.setdefault("_".join(words(name)), document.name)
        own = [document.texts["name"], re.split(r"[.;:]", document.texts.get("says", ""))[0]]
        for phrase in (*own, *document.texts.get("asked", "").split("; ")):
            if terms := list(dict.fromkeys(_terms(phrase))):
                self._said_of.append((number, terms))
        counts: dict[str, float] = {}
        for name, (weight, by_length) in _FIELDS.items():
            terms = [term for part in document.texts.get(name, "").split("; ") for term in _terms(part)]
            if not terms:
                continue
            share = weight / (1 - by_length + by_length * max(len(terms), 4) / 8)
            for term in dict.fromkeys(terms):
                counts[term] = counts.get(term, 0.0) + share
                for part in term.split("_") if "_" in term else ():
                    if (plain := stem(part)) and plain not in terms:
                        counts[plain] = max(counts.get(plain, 0.0), share / 3)
        for term, count in counts.items():
            self._postings.setdefault(term, {})[number] = count

    def close(self) -> None:
        """After the last action was added."""
        mass = {term: self._rarity(_Concept({term: 1.0})) * _weight(term) for term in self._postings}
        for phrase, (number, terms) in enumerate(self._said_of):
            self._phrases.append((number, sum(mass[term] for term in terms)))
            for term in terms:
                self._said.setdefault(term, []).append(phrase)
        self._said_of.clear()
        said = {word for phrase in _MEANINGS for term in phrase for word in term.split("_")}
        verbs = {word for verb in _VERBS for word in verb.split("_")}
        self._known.update(_PHRASES.knows(), said, verbs, self._postings)
        for term in sorted(self._known):
            if "_" not in term:
                for gram in _trigrams(term):
                    self._grams.setdefault(gram, []).append(term)


class _Question:
    """What somebody asks for."""

    def __init__(self, query: str, mended: Callable[[str], str]) -> None:
        query = _A_VERSION.sub(" ", _A_FILE.sub(" file ", query))
        raw = words(query)
        *around, last = re.split(r"\s[>›»→]\s|\s*->\s*", query)
        guessed: set[str] = set()

        def mend(written: str) -> str:
            meant = mended(written)
            guessed.update({meant} - {written})
            return meant

        terms = [(term, _AROUND) for part in around for term in _PHRASES.terms(part, mend)]
        terms += [
            (term, _weight(term) * (_GUESSED if term in guessed else 1.0))
            for term in _PHRASES.terms(last, mend)
        ]
        if not MEANT_WITH & {*raw}:
            terms = [each for each in terms if each[0] not in _ELSEWHERE] or terms
        terms = list(dict.fromkeys(terms))[:_MOST_TERMS]
        self.spans = list(_spans(terms))
        self._terms = {term for term, _ in terms}
        # Behind an article stands a noun: `the build`, `a change`.
        nouns = {number + 1 for number, word in enumerate(raw) if word in _ARTICLES}
        # In the middle `who` asks for nothing: `a user who left`.
        nouns |= {number for number, word in enumerate(raw) if number and word in _ASKING}
        first = next((number for number, word in enumerate(raw) if stem(word) not in STOP_WORDS), 0)
        nouns |= {number for number, word in enumerate(raw) if number > first and word in _NOUNS_TOO}
        # What was done is not asked for: `protected branches`, `a deleted project`.
        nouns |= {number for number, word in enumerate(raw) if word.endswith("ed")}
        plain = ["" if number in nouns else mended(stem(word)) for number, word in enumerate(raw)]
        verbs = [_VERBS.get(word) for word in plain]
        pairs = [_VERBS.get(f"{one}_{other}") for one, other in pairwise(plain)]
        kinds = [*filter(None, pairs), *filter(None, verbs)]
        if raw and (raw[0] in _ASKS or (raw[0] in _ASKS_OR_SAYS and not kinds)):
            kinds = ["read"]
        if raw and not kinds and raw[-1] in _OVERVIEWS:
            kinds = ["read"]
        self._kind = kinds[0] if kinds else ""
        self._is_plural = any(word.endswith("s") and len(word) > 3 for word in raw)
        self._is_place = bool(around)

    def fits(self, document: _Indexed) -> float:
        """How well a kind of call, on this noun, at these places, does what the verb asks for."""
        return (
            self._of_kind(document.kind)
            * self._of_place(document.scopes)
            * self._of_number(document.kind, lists=document.lists)
            * (_THE_NOUN if document.noun <= self._terms else 1.0)
        )

    def _of_kind(self, kind: str) -> float:
        if not self._kind:
            return _UNASKED.get(kind, 1.0)
        if kind == self._kind:
            return 1.3
        if not kind:
            return 1.0
        return 0.72 if "read" in (kind, self._kind) or {kind, self._kind} == {"create", "delete"} else 0.85

    def _of_place(self, scopes: frozenset[str]) -> float:
        if not scopes:
            return 1.0
        if self._terms & _GROUP:
            return 1.12 if "group" in scopes else 0.95
        if self._terms & _INSTANCE:
            return 1.1 if "instance" in scopes else 0.97
        return 1.0 if "project" in scopes else 0.9 if "group" in scopes else 0.97

    def _of_number(self, kind: str, *, lists: bool) -> float:
        if kind != "read":
            return 1.0
        return 1.06 if lists and (self._is_plural or not self._kind) else 1.0


def _weight(term: str) -> float:
    """What a verb says is said by the kind of call, too."""
    return _PLAIN_VERB if term in _VERBS or term in _LIGHT else 1.0


def _spans(terms: Sequence[tuple[str, float]]) -> Iterable[tuple[dict[str, float], float]]:
    """The terms, those of a phrase with other words together."""
    start = 0
    while start < len(terms):
        for length in range(min(_LONGEST_MEANING, len(terms) - start), 1, -1):
            span = terms[start : start + length]
            if others := _MEANINGS.get(tuple(term for term, _ in span)):
                yield from (({term: 1.0}, weight * _OWN_WORDS) for term, weight in span)
                yield dict.fromkeys(others, 1.0), span[-1][1] * _OF_A_PHRASE
                start += length
                break
        else:
            yield {terms[start][0]: 1.0}, terms[start][1]
            start += 1


def _scopes(endpoint: str) -> Iterable[str]:
    path = endpoint.partition(" ")[2]
    first = path.strip("/").split("/")[0]
    if first == "graphql":
        return ()
    return ({"projects": "project", "groups": "group"}.get(first, "instance"),)


def _is_opposite(one: str, other: str) -> bool:
    """`undelete` is no misspelt `delete`."""
    short, long = sorted((one, other), key=len)
    return long != short and long.endswith(short[1:]) and long.startswith(("un", "de", "dis", "re"))


def _trigrams(term: str) -> set[str]:
    padded = f" {term} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}


_PHRASES: Final = Phrases(SAME)


@lru_cache(maxsize=8192)
def _terms(text: str) -> tuple[str, ...]:
    """Of a text of ours; many say the same."""
    return tuple(_PHRASES.terms(text))


_ELSEWHERE: Final = frozenset(map(stem, ELSEWHERE))
_LIGHT: Final = frozenset(map(stem, LIGHT))
_VERBS: Final = {"_".join(map(stem, verb.split("_"))): kind for verb, kind in VERBS.items()}
_MEANINGS: Final = {
    tuple(_PHRASES.terms(phrase)): tuple(
        dict.fromkeys(term for word in others for term in _PHRASES.terms(word))
    )
    for phrase, others in MEANS.items()
}
_LONGEST_MEANING: Final = max(map(len, _MEANINGS))


def plain_endpoint(endpoint: str) -> str:
    """`POST /projects/{}/badges`, whatever the ids are called."""
    return re.sub(r"\{\w+\}|:\w+", "{}", endpoint)


def said_of(name: str, endpoints: Iterable[str]) -> str:
    """What people say who want this action."""
    plain = [plain_endpoint(endpoint) for endpoint in endpoints]
    texts = [ASKED.get(key, "") for key in (name, *plain)]
    bare = [f"{endpoint}/".replace("/{}", "") for endpoint in plain]
    paths = [word for path in bare for piece, said in PATHS.items() if f"/{piece}/" in path for word in said]
    return "; ".join(filter(None, (*texts, *dict.fromkeys(paths))))

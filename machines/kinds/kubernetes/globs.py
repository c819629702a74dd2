"""Globs as Argo CD has them, matched in a time that grows with the lengths of glob and word only.

Belongs here: reading a glob, matching it. Does not: where globs stand (`diff.ignore`, `overrides`, sync windows).
Libraries turn alternatives into a list of patterns, and stars into a regular expression that tries again and again; a
short text can make either take for ever. Here the places of the word that a part of the glob can reach are the bits of
one number.
"""

from functools import lru_cache
from typing import NamedTuple

LONGEST, BRACES = 1_024, 10
"""The most characters of a glob, and how deep its braces may be nested."""


class BadGlob(ValueError):
    """A glob is beyond a limit. The message says which."""


class Characters(NamedTuple):
    """One character: one of these ranges, or none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def has(self, character: str) -> bool:
        """Whether this is such a character."""
        return any(first <= character <= last for first, last in self.ranges) is not self.negated


class Alternatives(NamedTuple):
    """Any one of these sequences of parts."""

    sequences: "tuple[tuple[Part, ...], ...]"


class Sign(NamedTuple):
    """A character that means more than itself: one of `*`, `?`, `{`, `,`, `}`."""

    text: str


Part = str | Sign | Characters | Alternatives
"""A part of a glob. A `str` is one character that means itself."""
ANY, ONE, OPEN, OR, CLOSE = map(Sign, "*?{,}")
EVERY = Characters((("\0", "\U0010ffff"),))


def matches(glob: str, word: str) -> bool:
    """Whether a glob (`*`, `?`, `[ab]`, `{a,b}`) matches a word, by case. A glob beyond the limits matches nothing."""
    if glob == word and not {"[", "\\"} & set(glob):
        return True
    try:
        parts = _read(glob)
    except BadGlob:
        return False
    places = Places(word)
    return bool(_reached(parts, 1, places) & places.end)


def problem(glob: str) -> str:
    """Why a glob is beyond the limits; empty if it is not."""
    try:
        _read(glob)
    except BadGlob as error:
        return str(error)
    return ""


class Places:
    """Where the characters of a word are, as bits of a number. end: the place after the last one."""

    def __init__(self, word: str) -> None:
        self.end = 1 << len(word)
        self._size = len(word) // 8 + 1
        self._found: dict[str | Characters, int] = {}
        self._indexes: dict[str, list[int]] = {}
        for index, character in enumerate(word):
            self._indexes.setdefault(character, []).append(index)

    def of(self, part: str | Characters) -> int:
        """Where a character, or one of several, is."""
        if part not in self._found:
            self._found[part] = self.end - 1 if part is EVERY else self._bits(part)
        return self._found[part]

    def _bits(self, part: str | Characters) -> int:
        fitting = [part] if isinstance(part, str) else [one for one in self._indexes if part.has(one)]
        found = bytearray(self._size)
        for character in fitting:
            for index in self._indexes.get(character, ()):
                found[index >> 3] |= 1 << (index & 7)
        return int.from_bytes(found, "little")


def _reached(parts: tuple[Part, ...], reached: int, places: Places) -> int:
    """The places that these parts lead to from the places `reached`."""
    for part in parts:
        if part is ANY:
            reached = ((places.end << 1) - 1) & -(reached & -reached)  # the first place, and all after it
        elif isinstance(part, Alternatives):
            found = 0
            for sequence in part.sequences:
                found |= _reached(sequence, reached, places)
            reached = found
        else:
            reached = (reached & places.of(part if isinstance(part, Characters) else str(part))) << 1
        if not reached:
            return 0
    return reached


@lru_cache(maxsize=1_024)
def _read(glob: str) -> tuple[Part, ...]:
    """The parts of a glob; raises `BadGlob`."""
    if len(glob) > LONGEST:
        raise BadGlob(f"a glob must have at most {LONGEST} characters, found {len(glob)}: {glob[:40]!r}...")
    tokens = _tokens(glob)
    closed = _closed(tokens)
    open_: list[list[list[Part]]] = [[[]]]
    for index, token in enumerate(tokens):
        if token is OPEN and index in closed:
            open_.append([[]])
            if len(open_) > BRACES + 1:
                raise BadGlob(f"braces are nested more than {BRACES} levels deep in the glob {glob[:40]!r}")
        elif token is OR and len(open_) > 1:
            open_[-1].append([])
        elif token is CLOSE and len(open_) > 1:
            made = Alternatives(tuple(tuple(sequence) for sequence in open_.pop()))
            open_[-1][-1].append(made)
        elif token is ONE:
            open_[-1][-1].append(EVERY)
        else:
            open_[-1][-1].append(token.text if isinstance(token, Sign) and token is not ANY else token)
    return tuple(open_[0][0])


def _closed(tokens: list[Part]) -> set[int]:
    """The indexes of the opening braces that are closed. The others mean themselves."""
    open_, closed = [], set()
    for index, token in enumerate(tokens):
        if token is OPEN:
            open_.append(index)
        elif token is CLOSE and open_:
            closed.add(open_.pop())
    return closed


def _tokens(glob: str) -> list[Part]:
    """The characters, signs and sets of a glob."""
    tokens: list[Part] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "\\" and at < len(glob):
            tokens.append(glob[at])
            at += 1
        elif character == "[" and (end := glob.find("]", at + 1 + (glob[at : at + 1] in ("!", "^")))) > 0:
            tokens.append(_set(glob[at:end]))
            at = end + 1
        else:
            tokens.append(next((sign for sign in (ANY, ONE, OPEN, OR, CLOSE) if sign.text == character), character))
    return tokens


def _set(text: str) -> Characters:
    """The set `a-z_` or `!a-z_` between brackets."""
    negated = text[0] in "!^"
    left, ranges = text[negated:], []
    while left:
        if len(left) > 2 and left[1] == "-":
            ranges.append((left[0], left[2]))
            left = left[3:]
        else:
            ranges.append((left[0], left[0]))
            left = left[1:]
    return Characters(tuple(ranges), negated)

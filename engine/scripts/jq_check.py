"""Which jq programs may run: those that end soon by their form, and answer the same each time. jq counts no steps.

Belongs here: `refusal`, from the text of a program alone, so that it is the same on every machine; `shadows` and
`shadowed`, by which jq says itself what a program calls. Does not: running programs (`jq_paths`), the limit of time
behind this one (`sandbox`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from math import prod

LONGEST = 2_000
"""The most characters of a program."""
ITERATIONS = 12
"""The most `[]` and `..` in a program."""
BRANCHES = 1_024
"""By how much a program may multiply its input, by the commas and operators in it."""
_WORDS = """
if then elif else end and or not try catch true false null select map map_values has in keys keys_unsorted length
utf8bytelength startswith endswith contains inside index rindex indices any all to_entries from_entries with_entries
type empty error first last ltrimstr rtrimstr tostring tonumber ascii_downcase ascii_upcase split join add min max
min_by max_by sort sort_by unique unique_by group_by reverse flatten paths path del delpaths getpath tojson fromjson
values nulls strings numbers booleans arrays objects iterables scalars isvalid IN test abs floor trim ltrim rtrim
"""
WORDS = frozenset(_WORDS.split())
"""The names that a program may use."""
KEYWORDS = frozenset(["def", "reduce", "foreach", "as", "label", "break", "import", "include", "module"])
"""Words of jq's grammar that no program may use. jq reads one before `:`, `,` or `}` as the key of an object."""
ARITIES = ("", "(a)", "(a;b)", "(a;b;c)", "(a;b;c;d)", "(a;b;c;d;e)", "(a;b;c;d;e;f)")
"""The parameters that functions of jq have."""
DOUBLING = frozenset(("+", "+=", "{", "tostring", "tojson", "join", "add", "to_entries", "with_entries", "paths"))
"""Words that can make the value larger."""
_TOKEN = re.compile(
    r"""\s+ | (?P<string>"(?:[^"\\]|\\.)*") | (?P<key>[A-Za-z_]\w*(?=\s*(?:[,}]|:(?!:))))
    | (?P<field>\.[A-Za-z_]\w*) | (?P<number>\d[\d.]*(?:[eE][+-]?\d+)?) | (?P<word>[$@]?[A-Za-z_][\w:]*)
    | (?P<sign>\.\. | \?// | //=? | [|+\-*/%=!<>]= | [.\[\]{}(),|:;?+\-*/%=<>$@\#])""",
    re.VERBOSE | re.DOTALL,
)
_REPEAT = re.compile(r"[*+?{]")
_ESCAPED = re.compile(r"\\.|\[[^\]]*\]")

_SHADOWED = re.compile(r"\berror: not_allowed_(\w+)/0 is not defined")
_CAN = "use paths, select, has, any, all, keys, contains, startswith and the like"

Token = tuple[str, str]
"""The sort of a word, as the expression above names it, and the word."""


@lru_cache(maxsize=256)
def refusal(program: str) -> str:
    """Why a program may not run, in a sentence; empty if it may."""
    if len(program) > LONGEST:
        return f"it has {len(program)} characters, and at most {LONGEST} may run: split it into several rules"
    tokens = list(_tokens(program))
    if tokens and tokens[-1][0] == "odd":
        return f"{tokens[-1][1]!r} is not allowed in an ignore rule: select fields by paths"
    return next(_problems(tokens), "")


@lru_cache(maxsize=256)
def shadows(program: str) -> str:
    """Definitions of the names in a program that are not in `WORDS`, to be compiled in front of it.

    jq drops a definition that nothing calls, and calls nothing that a key, a field or a text names. One that is called
    calls what does not exist, which is an error (`shadowed`).
    """
    names = {word for sort, word in _tokens(program) if sort in ("word", "key")} - WORDS - KEYWORDS
    defined = sorted(name for name in names if name.isascii() and name.isidentifier() and name[0] != "_")
    return "".join(f"def {name}{some}: not_allowed_{name};" for name in defined for some in ARITIES)


def shadowed(error: str) -> str:
    """Why a program may not run, if this is the error that a name of `shadows` makes; else empty."""
    return _not_allowed(found[1]) if (found := _SHADOWED.search(error)) else ""


def _not_allowed(word: str) -> str:
    return (
        f"{word} is not allowed in an ignore rule, because it may run without end, or answer something else the next "
        f"time: {_CAN}"
    )


def _tokens(program: str) -> Iterator[Token]:
    place = 0
    while place < len(program):
        found = _TOKEN.match(program, place)
        if found is None:
            yield "odd", program[place]
            return
        place = found.end()
        if found.lastgroup:
            yield found.lastgroup, found[0]


def _problems(tokens: list[Token]) -> Iterator[str]:
    for place, (sort, word) in enumerate(tokens):
        if sort == "word" and (word in KEYWORDS or word[0] in "$@" or "::" in word):
            yield _not_allowed(word)
        if sort == "word" and word[0] == "_" and tokens[place + 1 : place + 2] == [("sign", "(")]:
            yield _not_allowed(word)  # jq's own, which operators call: a program may not define them
        if sort == "sign" and word in ("*", "*=", "#", "?//", "$", "@"):
            yield f"{word!r} is not allowed in an ignore rule: {_CAN}"
        if sort == "string" and "\\(" in word:
            yield "a text with \\(...) in it is not allowed in an ignore rule: compare fields instead"
        if (sort, word) == ("word", "test") and (problem := _pattern_problem(tokens[place + 1 : place + 4])):
            yield problem
    rounds = sum(
        (sort, word) == ("sign", "..") or (word == "[" and tokens[place + 1 : place + 2] == [("sign", "]")])
        for place, (sort, word) in enumerate(tokens)
    )
    if rounds > ITERATIONS:
        yield f"it goes over all members of a value {rounds} times, and may do so {ITERATIONS} times: split the rule"
    if sum(word == ".." for sort, word in tokens if sort == "sign") > 1:
        yield "it uses .. more than once, which may take too long: write the path, or split the rule"
    if (branches := _branches(tokens)) > BRANCHES:
        yield f"its commas and operators can multiply a value by {branches}, and may by {BRANCHES} at most: split it"


def _branches(tokens: list[Token]) -> int:
    """By how much a program can multiply its input: each group of alternatives by their number, some words by 2."""
    open_groups, groups = [1], []
    for sort, word in tokens:
        if sort != "sign":
            continue
        if word in "([{":
            open_groups.append(1)
        elif word in ")]}" and len(open_groups) > 1:
            groups.append(open_groups.pop())
        elif word == ",":
            open_groups[-1] += 1
    doubled = sum(sort != "string" and word in DOUBLING for sort, word in tokens)
    return int(prod((*groups, *open_groups)) << min(doubled, 64))


def _pattern_problem(following: list[Token]) -> str:
    """Why the argument of `test` may not be searched for."""
    if [word for _, word in following[:1]] != ["("]:
        return ""  # jq has no `test` without a pattern, so it is a key
    if len(following) < 3 or following[1][0] != "string" or following[2][1] not in ");":
        return "test needs a pattern in quotes in an ignore rule: a computed pattern may take too long"
    plain = _ESCAPED.sub("", following[1][1].replace("\\\\", "\\"))
    if len(_REPEAT.findall(plain)) > 2 or re.search(r"\)[*+?{]", plain) or re.search(r"\\[1-9k]", following[1][1]):
        return f"the pattern {following[1][1]} may take too long: use at most two repeats, none of them of a group"
    return ""

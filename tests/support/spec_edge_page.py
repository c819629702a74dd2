"""Reads docs/spec/edge-hosting.md: its tables, row by row, in the words that `spec_edge_moves` gives to our tables.

Belongs here: the page's notation. A line that it does not know is an error, so that no line goes unread. Does not: our
tables.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "spec" / "edge-hosting.md"
TITLES = {"cluster": "Cluster", "node_pool": "Node pool", "node": "Node", "component": "Component"}
NOTES = re.compile(r" ?†| ?\(d\)| ?\(\[[^)]*\)\)")
"""Marks of where a line comes from, and links."""


class Move(NamedTuple):
    """What one trigger does from one place: `Failed without X over Y`. given: the `data.condition` that it is for."""

    trigger: str
    at: str
    guard: str
    becomes: str
    given: str = ""


class Shown(NamedTuple):
    """A view: what it shows, over which bases, while what holds."""

    shows: str
    bases: frozenset[str]
    while_: str


class UnknownNotation(AssertionError):
    """The page says something that this reader does not know."""


def sections() -> dict[str, str]:
    """The part of the page about each kind; the part before the first under the empty name."""
    first, *rest = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    named = {part.partition("\n")[0]: part for part in rest}
    return {"": first, **{kind: named[title] for kind, title in TITLES.items()}}


def tables(section: str, first: str) -> Iterator[dict[str, str]]:
    """The rows of the tables whose first column has this name, by the names of their columns."""
    names: list[str] = []
    for line in section.splitlines():
        cells = [NOTES.sub("", cell).strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells:
            names = []
        elif not names:
            names = [name.partition(",")[0] for name in cells]
        elif names[0] == first and not set(line) <= set("|-"):
            yield dict(zip(names, cells, strict=True))


def phases_of(section: str) -> list[str]:
    """The live phases of a kind."""
    return list(dict.fromkeys(row["phase"] for row in tables(section, "phase")))


def words(kind: str) -> tuple[set[str], set[str]]:
    """The intents and the derived triggers that a section names."""
    text = sections()[kind]
    lists = (re.search(rf"{name}: ([^.]*)\.", text) for name in ("Intents", "Derived"))
    intents, derived = (set(re.findall(r"\w+", found[1])) if found else set() for found in lists)
    return intents, derived


def moves(kind: str) -> list[Move]:
    """The moves of a kind, those of each line expanded."""
    section = sections()[kind]
    return [move for row in tables(section, "trigger") for move in _of_row(section, row)]


def _of_row(section: str, row: dict[str, str]) -> Iterator[Move]:
    for trigger in row["trigger"].replace("*", "").split(", "):
        guard = "a place at or above it (cluster) is Silent" if "(1)" in row["from"] and "abandon" in trigger else ""
        for at in _sources(section, row["from"]):
            for at_, becomes, given in _results(section, trigger, at, row["base becomes"]):
                yield Move(trigger, at_, row.get("guard", "") or guard, becomes, given)


def _sources(section: str, cell: str) -> Iterator[str]:
    """The places that a cell names: `Running; Failed without (1)`."""
    live = phases_of(section)
    for part in cell.split("; "):
        if found := re.fullmatch(r"live(?: (?:but|except) ([\w, ]+))?", part):
            left_out = (found[1] or "").split(", ")
            yield from (phase for phase in live if phase not in left_out)
        elif part == "live (1)":
            yield from live
        elif found := re.fullmatch(r"live with (\w+)", part):
            yield from (f"{phase} with {found[1]}" for phase in live)
        elif found := re.fullmatch(r"(\w+) without \((\d)\)", part):
            yield f"{found[1]} without {', '.join(sorted(_note(section, found[2])))}"
        elif found := re.fullmatch(r"(\w+) over the base (\w+)", part):
            yield f"{found[1]} over {found[2]}"
        elif re.fullmatch(r"\w+ with(out)? \w+", part):
            yield part
        else:
            yield from (_phase(live, name) for name in part.split(", "))


def _phase(live: Sequence[str], name: str) -> str:
    if name not in (*live, "∅", "Deleted"):
        raise UnknownNotation(f"from {name!r}")
    return "Absent" if name == "∅" else name


def _results(section: str, trigger: str, at: str, cell: str) -> Iterator[tuple[str, str, str]]:
    """The places, results and values of `data.condition` that a cell means."""
    if found := re.fullmatch(r"(\w+) \[`data.condition`\], or \w+ \[(\w+)\] without it", cell):
        for one in _values(section, trigger):
            yield at, f"{found[1]} [{one}]", "" if one == found[2] else one
    elif found := re.fullmatch(r"same; clears \((\d)\)", cell):
        every = _note(section, found[1])
        yield from ((f"{at} with {one}", f"same; clears {one}", one) for one in every)
        yield at, f"same; clears {', '.join(every)}", ""
    elif found := re.fullmatch(r"(same; clears \w+)\. From \w+ or \w+, arrears end in \w+", cell):
        yield at, found[1], ""
    elif found := re.fullmatch(r"(\w+) \[\+?(\w+)\](; sets `\w+`)?", cell):
        yield at, f"{found[1]} [{found[2]}]{found[3] or ''}", ""
    elif re.fullmatch(
        r"\w+|as the data names|(same|\w+|as the data names); (sets|clears|may set) [\w`]+(, [\w`]+)*", cell
    ):
        yield at, cell, ""
    else:
        raise UnknownNotation(f"{trigger} becomes {cell!r}")


def _note(section: str, number: str) -> list[str]:
    """The conditions that a note below the table names."""
    found = re.search(rf"^{number}\. (?:Neither|[^:\n]*:) ([^.]*)\.", section, flags=re.MULTILINE)
    if found is None:
        raise UnknownNotation(f"note {number}")
    return re.split(r", | nor ", found[1].replace("\n", " "))


def _values(section: str, trigger: str) -> list[str]:
    found = re.search(rf"`{trigger}`: `data.condition` is one of ([^.]*)\.", section)
    if found is None:
        raise UnknownNotation(f"the values of {trigger}")
    return found[1].split(", ")


def interrupted(kind: str) -> dict[str, str]:
    """The phases that come back as another one than the healthy one, and as which."""
    found = re.search(r"From (\w+) or (\w+), arrears end in (\w+)", sections()[kind])
    return {} if found is None else dict.fromkeys(found.groups()[:2], found[3])


def views(kind: str) -> list[Shown]:
    """The views of a kind, in order."""
    section = sections()[kind]
    return [
        Shown(row["view"], frozenset(_sources(section, row["base"].replace(", ", "; ", 0))), row["while"])
        for row in tables(section, "view")
    ]


def labels(kind: str) -> list[tuple[str, ...]]:
    """The rows of the table of labels: phase, condition, zh, en, and for nodes whether it is schedulable."""
    return [tuple(row.values()) for row in tables(sections()[kind], "phase")]


def cascades(kind: str) -> list[tuple[frozenset[str], str, frozenset[str], str]]:
    """The cascades down: on which triggers, what is fired, at which kinds, unless what."""
    found = []
    for line in re.findall(r"^- (.*(?:\n  .*)*)", sections()[kind], flags=re.MULTILINE):
        when, _, then = " ".join(line.split()).partition(": ")
        on = frozenset(re.findall(r"[`*](\w+)[`*]", when))
        if when != "Entering Deleted":
            fired, _, where = then.partition(" at ")
            unless = re.search(r"unless `data\.(\w+)` is (\w+)", when)
            found.append((on, fired.strip("*"), _kinds(where.partition(", and at")[0]), unless[0] if unless else ""))
    return found


def _kinds(text: str) -> frozenset[str]:
    found = set()
    for kind in sorted(TITLES, key=len, reverse=True):
        name = kind.replace("_", " ")
        if re.search(rf"\b{name}s?\b", text):
            found.add(kind)
            text = re.sub(rf"\b{name}s?\b", "", text)
    return frozenset(found)

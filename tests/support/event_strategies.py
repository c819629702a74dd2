"""Strategies for events: any kind and trigger, ids of a small tree, data that is mostly right.

Belongs here: strategies for what publishers send. Does not: deciding it.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import COMMON, Field
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

SUBJECTS = Subjects("pl")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JUNK = st.one_of(
    TEXT, st.booleans(), st.integers(-3, 3), st.lists(TEXT, max_size=2), st.dictionaries(TEXT, TEXT, max_size=1)
)
TIMES = st.sampled_from(["2026-03-02T08:00:00Z", "2026-03-02T08:00:00.5+08:00"])
SEQUENCES = st.one_of(st.integers(0, 5), st.integers(0, 5).map(str))


class Arriving(NamedTuple):
    """A stored message as the core gets it. `sequence` and `time_ns` come from the stream."""

    subject: str
    data: bytes
    sequence: int
    time_ns: int
    block: bytes | None = None


def value(field: Field) -> st.SearchStrategy[Any]:
    """A value for a field."""
    if field.options:
        one: st.SearchStrategy[Any] = st.sampled_from(field.options)
    else:
        one = {str: TEXT, bool: st.booleans(), int: st.integers(-3, 3)}.get(field.type, JUNK)
    return st.lists(one, max_size=3, unique_by=repr) if field.many else one


@lru_cache(maxsize=1_000)
def data(kind: Kind, trigger: str, *, junk: float = 0.1) -> st.SearchStrategy[dict[str, Any]]:
    """Data of one event. `junk`: how often a field has a wrong value, or a required field is left out."""
    fields = {field.name: (field, value(field)) for field in (*COMMON, *kind.fields[trigger])}
    wrong = st.floats(0, 1).map(lambda drawn: drawn < junk)
    nonsense = st.one_of(JUNK, st.none())

    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        found = {}
        for name, (field, right) in fields.items():
            if draw(wrong):
                found[name] = draw(nonsense)
            elif field.required or draw(st.booleans()):
                found[name] = draw(right)
        return found

    return st.composite(drawn)()


@st.composite
def bodies(draw: st.DrawFn, kinds: Kinds) -> tuple[str, dict[str, Any]]:
    """The subject in the inbox, and the decoded body of a mostly well-formed event about one of a few entities."""
    kind = draw(st.sampled_from(list(kinds.values())))
    trigger = draw(st.sampled_from(list(kind.roles)))
    parts = ["c.1", *(draw(st.sampled_from(["a", "b b"])) for _ in kind.table.id[1:])]
    body: dict[str, Any] = {
        "specversion": "1.0",
        "id": draw(st.sampled_from(["1", "2"])),
        "source": draw(st.sampled_from(["/me", "/agent"])),
        "type": f"{kind.name}.{trigger}",
        "data": draw(data(kind, trigger)),
    }
    for name, strategy in (
        ("time", TIMES),
        ("sequence", SEQUENCES),
        ("subject", st.just(f"{kind.name}/{'/'.join(parts)}")),
    ):
        if draw(st.booleans()):
            body[name] = draw(strategy)
    return SUBJECTS.event(kind.name, trigger, "/".join(parts)).replace(".events.", ".inbox.0."), body


@st.composite
def histories(draw: st.DrawFn, kinds: Kinds) -> list[Arriving]:
    """Messages of one tree in the stream's order. Some of them are no events."""
    found = []
    for sequence, (subject, body) in enumerate(draw(st.lists(bodies(kinds), min_size=1, max_size=25)), 1):
        packed = draw(st.sampled_from([codec.encode, codec.encode_json]))(body)
        broken = draw(st.integers(0, 19))
        payload = packed[:broken] if broken < 2 else packed
        found.append(Arriving(subject if broken != 2 else subject + ".x", payload, sequence, sequence * 1_000_000_000))
    return found

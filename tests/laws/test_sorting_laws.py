"""Many messages in the order of their entities: as sorting all of them at once, in any run and piece.

Belongs here: laws of runs and of streams that become one. Does not: reading STATE on a server
(`tests/nats/test_questions.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.log.questions.asking import merged
from phaseline.engine.log.questions.sorted_messages import SortedMessage, SortedMessages
from phaseline.engine.nats.reader import Stored
from phaseline.schemas.subjects import natural, quoted_id, unquoted_id

PARTS = st.sampled_from(["n1", "n2", "n10", "n01", "a.b", "50%", "é", "pool a", "x"])
IDS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
KINDS = st.sampled_from(["node", "cluster"])


def stored(kind: str, entity_id: str, sequence: int) -> Stored:
    body = f"{kind}/{entity_id} {sequence}".encode()
    return Stored(
        f"pl.state.3.{kind}.{quoted_id(entity_id)}", body, sequence, 7, 9, b"headers" if sequence % 2 else None
    )


@given(st.lists(st.tuples(KINDS, IDS)), st.integers(1, 7), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_of_each_entity_the_newest_message_comes_in_the_order_of_ids(
    named: list[tuple[str, str]], run: int, piece: int, step: int, given_at_once: int
) -> None:
    found = [(kind, one, stored(kind, one, sequence)) for sequence, (kind, one) in enumerate(named, 1)]
    sorting = SortedMessages(run, piece, given_at_once)
    for start in range(0, len(found), step):
        sorting.add(
            SortedMessage.of(kind, one, message, message.block) for kind, one, message in found[start : start + step]
        )
    newest = {(kind, one): message for kind, one, message in found}
    wanted = sorted(newest, key=lambda name: (natural(name[1]), name[0], newest[name].subject))
    pieces = [*sorting.merged()]
    assert all(len(some) <= given_at_once for some in pieces)
    shown = [(one.subject, one.data, one.sequence, one.block) for some in pieces for one in some]
    assert shown == [(one.subject, one.data, one.sequence, one.block) for one in map(newest.__getitem__, wanted)]
    assert [*sorting.merged()] == [[]]  # what was given is forgotten


@given(IDS)
def test_an_id_comes_out_of_its_tokens(entity_id: str) -> None:
    assert unquoted_id(quoted_id(entity_id)) == entity_id


def test_tokens_of_no_id_are_no_id() -> None:
    """A foreign message can have any subject: it is told apart later, by what it holds."""
    assert unquoted_id("c1.%zz.%41") == "c1.%zz.%41"


async def stream(pieces: Iterable[Sequence[int]]) -> AsyncIterator[list[int]]:
    for some in pieces:
        yield [*some]


def cut(found: list[int], step: int) -> list[list[int]]:
    return [[], *(found[start : start + step] for start in range(0, len(found), step)), []]


@given(st.lists(st.integers(0, 50)), st.lists(st.integers(0, 50)), st.integers(1, 4), st.integers(1, 4))
def test_two_streams_become_one_in_order(one: list[int], other: list[int], first: int, second: int) -> None:
    async def both() -> list[int]:
        streams = stream(cut(sorted(one), first)), stream(cut(sorted(other), second))
        return [each async for some in merged(*streams, lambda number: number) for each in some]

    assert asyncio.run(both()) == sorted([*one, *other])

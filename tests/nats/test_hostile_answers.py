"""Answers and notes that no worker, server or operator of ours would write: each is set aside, and nobody ends."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec
import pytest

from phaseline.schemas import codec
from phaseline.schemas.errors import NoAnswer, SetupError, Undecided
from tests.support.archives import ArchiveNote
from tests.support.archives import note as archived
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.edge_site import EdgeNames, EdgeState, Uplink, adding, edge_state
from tests.support.http_server import http_server
from tests.support.installation import LIMIT, Installation, Settings, Wire, at_work, provision
from tests.support.owners import hand_over
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import Backlog, PartitionBacklog, backlog, owner_of, until_decided
from tests.support.streams import EXPECTED

DEEP = b'{"metadata":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
NUMBERS = (b"1e999", b"-1", b"NaN", b"null", b'"x"', b"[]", b"9" * 400, b"9" * 5_000)
BODIES = (b"", b"{", b"[]", b"null", b"\xff\x00", b'{"a":1}', DEEP, b"7" * 5_000)


@asynccontextmanager
async def answering(wire: Wire, subject: str, bodies: Sequence[bytes]) -> AsyncIterator[list[bytes]]:
    """Somebody who answers each request on a subject with the first of these bodies. Yields the bodies."""
    left = list(bodies)
    sid = await wire.subscribe(subject, lambda _, __, ___, reply: wire.send(wire.frame(reply, left[0])))
    await wire.flush()
    try:
        yield left
    finally:
        await wire.unsubscribe(sid)


async def test_an_edge_that_answers_anything(settings: Settings, wire: Wire) -> None:
    names = EdgeNames(settings.prefix, "c1")
    way = Uplink(wire, names, own_account=False)
    known, hub = EdgeState("c1", ("c1",), "away", ""), edge_state._Hub(("c1",), 0, 0, None, None, "")
    told = [
        b'{"state":{"messages":%b,"bytes":%b,"last_seq":%b},"config":{"max_bytes":%b}}' % values
        for number in NUMBERS
        for values in ((number, b"1", b"1", b"1"), (b"1", number, b"1", b"10"), (b"1", b"1", b"1", number))
    ]
    found = []
    async with answering(wire, f"{names.domain_api}.>", [*BODIES, *told]) as bodies:
        while bodies:
            found.append(await edge_state._asked(way, known, hub, "again"))
            if bodies[0] in BODIES:
                with raises(SetupError.edge_answer_unreadable):
                    await adding._store(way, settings, ("c1",), None, 0)
            del bodies[0]
    assert {one.state for one in found[: len(BODIES)]} == {"failing"}
    assert all(len(one.advice) < 400 for one in found)


async def test_owners_that_answer_anything(settings: Settings, wire: Wire) -> None:
    """Where workers have no account of their own, anybody who hears a request may answer first."""
    settings = replace(settings, partitions=1)
    async with at_work(settings, wire) as layout:
        await publish(wire, list(RandomEvents(settings.prefix).built(1, 1)))
    installation, odd = Installation(wire, layout, BUILT_IN_KINDS), b'{"worker":"w","position":%b,"waiting":%b}'
    told = [odd % pair for number in (*NUMBERS, b"1.5") for pair in ((number, b"1"), (b"1", number))]
    told.remove(odd % (b"1", b"null"))  # a worker that loads says so
    async with http_server(settings) as api, answering(wire, f"{settings.prefix}.>", [*BODIES, *told]) as bodies:
        while bodies:
            with pytest.raises(NoAnswer):
                await owner_of(installation, 0)
            assert await backlog(installation) == Backlog(1, silent=(0,))  # the streams say that one waits
            if len(bodies) % 8 == 0:
                assert (await api.get("/v1/summary"))["partitions"][0]["worker"] is None
            if not bodies[0].isdigit() or len(bodies[0]) > 20:
                assert await hand_over.ask(installation, 0, "w") is None
            del bodies[0]
    async with answering(wire, f"{settings.prefix}.status.>", [odd % (b"7", b"2"), odd % (b"7", b"null")]) as bodies:
        assert await owner_of(installation, 0) == PartitionBacklog("w", 7, 2)
        del bodies[0]
        assert await owner_of(installation, 0) == PartitionBacklog("w", 7, None)


async def test_the_word_of_an_owner_is_no_proof_that_all_is_decided(settings: Settings, wire: Wire) -> None:
    """It may count late, as it has just begun to read, or own the partition no longer and commit nothing more."""
    settings = replace(settings, partitions=1)
    installation = Installation(wire, await provision(wire, settings), BUILT_IN_KINDS)
    await publish(wire, list(RandomEvents(settings.prefix).built(1, 1)))
    claims = [b'{"worker":"w","position":0,"waiting":0}', b'{"worker":"w","position":99999,"waiting":0}']
    async with answering(wire, f"{settings.prefix}.status.>", claims) as bodies:
        while bodies:
            with pytest.raises(Undecided):
                await until_decided(installation, 0.5)
            del bodies[0]
    async with at_work(settings, wire):
        await until_decided(installation, LIMIT)
    await until_decided(installation, LIMIT)  # and nobody need own it any more


def archive(**values: object) -> bytes:
    given = msgspec.to_builtins(ArchiveNote(1, 1, 1, "a"))
    return codec.encode({**given, **values})


WRONG = [
    b"", b"\x80", archive(position=-1), archive(place=-5), archive(time_ns=2**63), archive(time_ns=-1),
    archive(archive=1), archive(place="x"),
]  # fmt: skip


async def test_notes_of_operators_that_say_nothing_possible(settings: Settings, wire: Wire) -> None:
    """By a tool of theirs, with all headers that such a note has. The last note that can be read counts."""
    settings, end = replace(settings, partitions=2), 0
    installation = Installation(wire, await provision(wire, settings), BUILT_IN_KINDS)
    for body in WRONG:
        headers = {EXPECTED: str(end)}
        end = (await wire.publish_acked(f"{settings.prefix}.tables.archived", body, headers)).seq
    assert await archived.last(installation) is None

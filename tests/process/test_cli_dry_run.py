"""`phaseline publish --dry-run`: what it shows, to people and to programs, and how it ends."""

import asyncio
import re
from dataclasses import replace

import pytest

from phaseline.schemas import wire_codec
from phaseline.schemas.records import Mark, Transition
from tests.support import sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Answer, Shell
from tests.support.installation import Settings, Wire, Worker, provision
from tests.support.own_installation import Client
from tests.support.state_stream import copied

DRY = "dry run: nothing is stored\n"


async def dry_run(shell: Shell, *words: str) -> Answer:
    return await shell("publish", *words, "--dry-run", "--source", "/me")


@pytest.fixture
async def fleet(client: Client) -> Client:
    """A cluster with a pool and 30 nodes, whose copy in STATE is complete."""
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    for number in range(30):
        await client.publish("node", "adopt", f"c1/p/n{number}", {"phase": "Running"})
    await client.publish_and_wait("cluster", "created", "c1", source="/me", sequence=4)
    await copied(client._session.wire, await client._session.layout())
    return client


async def test_what_it_would_move(shell: Shell, fleet: Client) -> None:
    said = await dry_run(shell, "node", "not_ready", "c1/p/n7")
    assert said == (
        0, "event 33 would lead to 1 transition:\n  node c1/p/n7  Running [Ok] -> Failed [NotReady]  not_ready by /me\n", DRY,
    )  # fmt: skip
    said = await dry_run(shell, "node_pool", "create", "c1/q")
    assert said.out.splitlines() == [
        "event 33 would lead to 2 transitions:",
        "  node_pool c1/q  new -> Creating [Progressing]  create by /me",
        "  cluster c1  Running [Ok] -> Updating [Progressing]  create (tally of node_pool/c1/q)",
    ]


async def test_a_large_cascade_is_summed_up(shell: Shell, fleet: Client) -> None:
    said = await dry_run(shell, "cluster", "delete", "c1")
    first, *lines = said.out.splitlines()
    assert (said.code, first) == (0, "event 33 would lead to 32 transitions:")
    assert lines[0] == "  cluster c1  Running [Ok] -> Deleting [Progressing]  delete by /me"
    assert [len(re.findall(" -> ", line)) for line in lines[:21]] == [1] * 20 + [0]
    assert [re.sub(" {2,}", "|", line) for line in lines[20:]] == [
        "|... and 12 more (--json shows all). All transitions by state:",
        "|KIND|STATE|TRANSITIONS",
        "|cluster|Deleting [Progressing]|1",
        "|node_pool|Deleting [Progressing]|1",
        "|node|Deleting [Progressing]|30",
    ]


async def test_why_it_would_be_refused(shell: Shell, fleet: Client) -> None:
    for words, says in (
        (("cluster", "create", "c1"), "cluster c1  create, illegal: cluster c1 is Running [Ok]: create is not legal"),
        (
            ("cluster", "crate", "c1"),
            "cluster c1  crate, unknown_trigger: cluster has no trigger 'crate'; it has create",
        ),
        (("clutter", "create", "c1"), "clutter c1  create, unknown_kind: kind 'clutter' is unknown; there are cluster"),
        (
            ("node", "create", "c9/p/n"),
            "node c9/p/n  create, unknown_parent: node c9/p/n is Absent: the node_pool c9/p is unknown",
        ),
    ):
        said = await dry_run(shell, *words)
        assert (said.code, said.err) == (1, DRY)
        assert said.out.startswith(f"event 33 would be rejected: {says}")


async def test_it_names_what_an_event_repeats(shell: Shell, fleet: Client) -> None:
    said = await dry_run(shell, "cluster", "overdue", "c1", "--sequence", "4")
    line = r"event 33 would have no effect: repeat of number 4, heard at \S+Z, of /me for cluster c1\n"
    assert (said.code, re.fullmatch(line, said.out) is not None) == (0, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("created",), "cluster c1 is already Running [Ok]"),
        (
            ("created", "--sequence", "5"),
            "cluster c1 is already Running [Ok]; a mark would record its sequence",
        ),
    ],
)
async def test_why_it_would_have_no_effect(shell: Shell, fleet: Client, words: tuple[str, ...], says: str) -> None:
    trigger, *more = words
    line = f"event 33 would have no effect: {says}\n"
    assert await dry_run(shell, "cluster", trigger, "c1", *more) == (0, line, DRY)
    said = await dry_run(shell, "cluster", trigger, "c1", *more, "--json")
    assert (said.code, said.err) == (0, DRY + line)
    assert [type(wire_codec.from_wire(body)) for body in said.lines] == [Mark] * ("5" in more)


async def test_json_is_the_records_as_the_log_would_hold_them(shell: Shell, fleet: Client) -> None:
    said = await dry_run(shell, "cluster", "delete", "c1", "--json", "--id", "e1")
    assert (said.code, said.err) == (0, DRY)
    assert [body["id"] for body in said.lines] == [f"33-{place}" for place in range(32)]
    assert {body["data"]["cause"]["event"] for body in said.lines} == {"e1"}
    outcome = await fleet.publish_and_wait("cluster", "delete", "c1", source="/me", event_id="e1")
    told = [record for body in said.lines if isinstance(record := wire_codec.from_wire(body), Transition)]
    assert [(t.entity.id, t.before, t.after) for t in told] == [
        (t.entity.id, t.before, t.after) for t in outcome.transitions
    ]
    refused = await dry_run(shell, "cluster", "create", "c1", "--json")
    assert (refused.code, refused.json["data"]["reason"], refused.err) == (1, "illegal", DRY)


async def test_events_that_wait_are_told_of(shell: Shell, wire: Wire, settings: Settings) -> None:
    await provision(wire, replace(settings, prefix=f"{settings.prefix}-idle"))
    there = ("--prefix", f"{settings.prefix}-idle")
    assert (await shell("publish", "cluster", "create", "c1", *there)).code == 0
    said = await dry_run(shell, "cluster", "create", "c1", *there)
    assert said.out.startswith("event 2 would lead to 1 transition:\n")
    assert said.err == f"{DRY}events of this tree are not decided yet: the result does not include them\n"


async def test_other_tables_are_told_of(settings: Settings, wire: Wire, shell: Shell) -> None:
    """Somebody who has other tables than the workers sees what those would do, and that they are others."""
    stop, other = asyncio.Event(), replace(settings, prefix=f"{settings.prefix}-other")
    worker = Worker(wire, other, sample_kinds.KINDS)
    working = asyncio.create_task(worker.run(stop))
    await worker.ready.wait()
    async with Client.open(other, source="/test", kinds=sample_kinds.KINDS) as client:
        await client.publish_and_wait("orchard", "plant", "o")
        await copied(wire, await client._session.layout())
    held = await dry_run(shell, "orchard", "fell", "o", "--prefix", other.prefix)
    new = await dry_run(shell, "cluster", "create", "c1", "--prefix", other.prefix)
    stop.set()
    await working
    assert (held.code, held.out) == (6, "")
    assert "error: the log holds the kind 'orchard', which is not installed here" in held.err
    assert (new.code, new.out.splitlines()[0]) == (0, "event 2 would lead to 1 transition:")
    ours = ", ".join(sorted(BUILT_IN_KINDS.versions))
    differ = f"new: {ours}; missing: ban:tests.cards, fruit, ladder, orchard, row"
    assert (
        new.err
        == f"{DRY}the tables installed here differ from those of the workers ({differ}): the result may differ too\n"
    )


async def test_what_does_not_go_with_it(shell: Shell) -> None:
    for words in (("cluster", "create", "c1", "--wait"), ("--file", "examples/morning.jsonl")):
        said = await dry_run(shell, *words)
        assert (said.code, said.out) == (2, "")
        assert "--dry-run sends nothing: leave out --file and --wait" in said.err
    said = await dry_run(shell, "cluster", "create", "c1//x", "--json")
    assert (said.code, said.out) == (2, "")
    assert said.err == "error: no message can be made of this event, invalid: an id has an empty part\n"

"""`publish --snapshot`, and the client's method: from files to the records, in one event or several."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import phaseline
from phaseline.engine.publish import snapshots
from phaseline.schemas import codec
from phaseline.schemas.errors import EventRefused, InvalidInput
from tests.support.adoption import adopt
from tests.support.command import Shell
from tests.support.own_installation import Client
from tests.support.raising import raises

FLEET = [
    ("cluster", "c1", "Running"),
    ("node_pool", "c1/p", "Running"),
    *(("node", f"c1/p/{n}", "Running") for n in "abc"),
]
ITEMS: list[dict[str, Any]] = [
    {"id": "p/a", "phase": "Running"},
    {"id": "p/b", "phase": "Failed", "conditions": ["NotReady"]},
]
AT = ("publish", "cluster", "c1", "--kind", "node", "--snapshot")


def in_yaml(items: list[dict[str, Any]]) -> str:
    return "".join(f"- {json.dumps(item)}\n" for item in items)


FORMATS = {
    "json": json.dumps(ITEMS),
    "indented": "\n\n" + json.dumps({"items": ITEMS}, indent=2),
    "lines": "\n".join(map(json.dumps, ITEMS)),
    "yaml": "# seen\n" + in_yaml(ITEMS),
    "documents": "---\nid: p/a\nphase: Running\n---\nid: p/b\nphase: Failed\nconditions: [NotReady]\n",
    "yaml map": "items:\n" + in_yaml(ITEMS),
    "msgpack": b"".join(map(codec.encode, ITEMS)),
}


@pytest.mark.parametrize("text", FORMATS.values(), ids=list(FORMATS))
def test_items_in_each_format(text: str | bytes) -> None:
    assert snapshots.read_items(text if isinstance(text, bytes) else text.encode(), "-") == ITEMS


@pytest.mark.parametrize("text", ["", "  \n", "[1", "{", "id: [", '{"id": 1}\nx'])
def test_texts_that_hold_no_items(text: str) -> None:
    with raises(InvalidInput.bad_event_file):
        snapshots.read_items(text.encode(), "-")
    assert snapshots.read_items(b"[]", "-") == []


def test_the_parts_of_a_large_snapshot_say_what_the_whole_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "PART", 20_000)
    items = [{"id": f"p/n{number:05}", "phase": "Running"} for number in range(3_000)]
    found = snapshots.parts(reversed(items))
    assert len(found) > 3
    assert [item for part in found for item in part["items"]] == items
    assert "after" not in found[0]
    assert "upto" not in found[-1]
    for part, following in pairwise(found):
        assert part["upto"] == part["items"][-1]["id"] == following["after"]
    assert snapshots.parts([]) == [{"items": []}]
    within = snapshots.events("node", items[10:20], 7, "p/n00009", "p/n00019")
    assert within == [{"kind": "node", "seen": 7, "after": "p/n00009", "upto": "p/n00019", "items": items[10:20]}]
    assert snapshots.events("node", [], about=["NotReady"])[0]["about"] == ["NotReady"]
    with pytest.raises(EventRefused, match="a map with an id"):
        snapshots.parts([{"phase": "Running"}])


def test_each_part_has_its_own_id_and_sequence() -> None:
    details = phaseline.types.EventDetails(event_id="e", sequence=5)
    assert [snapshots.details_of(details, index, 2) for index in range(2)] == [
        {"event_id": "e-1", "sequence": 5}, {"event_id": "e-2", "sequence": 6},
    ]  # fmt: skip
    assert snapshots.details_of(details, 0, 1) == details


async def test_the_command(shell: Shell, client: Client, tmp_path: Path) -> None:
    await adopt(client, FLEET)
    file = tmp_path / "nodes.yaml"
    file.write_text(in_yaml([*ITEMS, {"id": "p/x", "phase": "Odd"}]))
    would = await shell(*AT, str(file), "--dry-run")
    assert would.code == 1
    assert would.out.startswith("of 3 items 1 would be taken as news, and 1 would be left out; 1 entities would end, ")
    assert "left out: p/x (invalid)" in would.out
    assert "node c1/p/c  Running [Ok] -> Deleted" in would.out
    said = await shell(*AT, str(file), "--wait")
    assert said.code == 1
    assert "node c1/p/b  Running [Ok] -> Failed [NotReady]  reported" in said.out
    assert "node c1/p/c  Running [Ok] -> Deleted  reported" in said.out
    assert "cluster c1  snapshot rejected, left_out: 1 of 3 items were left out: p/x (invalid)" in said.out
    assert said.out.endswith("3 items: 2 transitions, 1 items left out\n")
    file.write_text(in_yaml(ITEMS))
    again = await shell(*AT, str(file), "--wait", "--json")
    assert (again.code, again.json["effect"]) == (0, "none")
    why = await shell("why", "c1/p/c")
    assert "reported in a snapshot of cluster c1 by /phaseline/cli/" in why.out
    assert "unasked: the snapshot does not list it" in why.out
    assert (await shell("why", "c1/p/c", "--json")).json["facets"][0]["causes"][0]["records"][0]["unasked"] is True
    assert "reported (snapshot of cluster/c1), unasked" in (await shell("history", "node", "c1/p/c")).out
    file.write_text("")
    assert "write [] to say that nothing is there" in (await shell(*AT, str(file))).err
    assert "standard input, beginning: it is empty" in (await shell(*AT, "-", stdin=b"")).err
    assert (await shell(*AT[:4], "moon", "--snapshot", "-", "--wait", stdin=b"[]")).code == 2


async def test_the_former_command_does_the_same_and_names_the_new_one(shell: Shell, client: Client) -> None:
    await adopt(client, FLEET)
    former = await shell("snapshot", "cluster", "c1", "--kind", "node", "-", "--dry-run", stdin=b"[]")
    now = await shell(*AT, "-", "--dry-run", stdin=b"[]")
    assert former.err.startswith("`phaseline snapshot` is now `phaseline publish --snapshot`\n")
    assert (former.code, former.out) == (now.code, now.out)
    assert "0 entities would end" in now.out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("cluster", "c1", "--kind", "node"), "--kind is of --snapshot"),
        (("cluster", "create", "c1", "--about", "X"), "--about is of --snapshot"),
        (("cluster", "c1", "--snapshot", "-"), "a snapshot is `publish KIND ID --snapshot FILE --kind KIND`"),
        (("cluster", "snapshot", "c1", "--snapshot", "-", "--kind", "node"), "a snapshot is `publish KIND ID"),
        (("cluster", "c1", "--snapshot", "-", "--kind", "node", "--force"), "--snapshot is all that is sent"),
        (("cluster", "c1", "--snapshot", "-", "--kind", "node", "--dry-run", "--wait"), "leave out --file and --wait"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else None,
)
async def test_options_that_do_not_go_together(words: tuple[str, ...], problem: str) -> None:
    said = await Shell()("publish", *words, stdin=b"[]")
    assert (said.code, said.out) == (2, "")
    assert problem in said.err


async def test_an_id_that_looks_like_a_trigger_stays_as_it_is(shell: Shell, client: Client) -> None:
    await adopt(client, [("cluster", "Delete", "Running"), ("node_pool", "Delete/p", "Running")])
    said = await shell("publish", "cluster", "Delete", "--snapshot", "-", "--kind", "node", "--dry-run", stdin=b"[]")
    assert (said.code, said.err) == (0, "dry run: nothing is stored\n")


async def test_a_list_that_was_cut_short_ends_nothing_until_it_is_confirmed(shell: Shell, client: Client) -> None:
    await adopt(client, FLEET)
    would = await shell(*AT, "-", "--dry-run", stdin=b"[]")
    assert would.code == 1
    assert "0 entities would end, and 3 endings would be held back" in would.out
    assert "held back: node c1/p/a" in would.out
    said = await shell(*AT, "-", "--wait", stdin=b"[]")
    assert said.code == 1
    assert "3 of the 3 nodes that live in its range at cluster c1, which is more than 30 %" in said.out
    assert said.out.endswith("0 items: 0 transitions, 0 items left out, 3 not ended\n")
    assert (await shell(*AT, "-", "--confirm", stdin=b"[]")).code == 2
    seen = str((await client.last("node", "c1/p/c")).cause.sequence)
    confirmed = await shell(*AT, "-", "--confirm", "--seen", seen, "--wait", stdin=b"[]")
    assert (confirmed.code, confirmed.out.count("Running [Ok] -> Deleted")) == (0, 3)


async def test_a_divided_list_is_counted_as_a_whole_first(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [("node", f"c1/p/{name}", "Running") for name in "abcdefgh"]
    await adopt(client, [*FLEET[:2], *nodes])
    monkeypatch.setattr(snapshots, "PART", 40)
    items = [{"id": f"p/{name}", "phase": "Running"} for name in "adg"]
    with pytest.raises(EventRefused, match="5 of the 8 nodes that live in its range at cluster c1"):
        await client.snapshot("cluster", "c1", "node", items)
    assert {str(one.facets[0].state) async for one in client.list("node")} == {"Running [Ok]"}
    seen = (await client.last("node", "c1/p/h")).cause.sequence
    await client.snapshot("cluster", "c1", "node", items, seen=seen, confirm=True, wait=10)
    assert [one.id async for one in client.list("node")] == ["c1/p/a", "c1/p/d", "c1/p/g"]


async def test_the_client_in_several_events(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    await adopt(client, FLEET)
    monkeypatch.setattr(snapshots, "PART", 40)
    found = await client.snapshot("cluster", "c1", "node", ITEMS, wait=10, source="/agent", event_id="s", sequence=1)
    assert [outcome.receipt.event for outcome in found] == ["s-1", "s-2"]
    assert [r.entity.id for outcome in found for r in outcome.transitions if r.entity.kind == "node"] == [
        "c1/p/b",
        "c1/p/c",
    ]
    sent = await client.snapshot("cluster", "c1", "node", ITEMS)
    assert [outcome.records for outcome in sent] == [(), ()]


async def test_one_event_of_more_than_a_megabyte_is_refused_and_the_parts_are_taken(client: Client) -> None:
    items = [{"id": f"p/{'n' * 200}{number:05}", "phase": "Running"} for number in range(4_800)]
    with pytest.raises(phaseline.errors.PhaselineError, match="accepts at most 1048576"):
        await client.publish("cluster", "snapshot", "big", {"kind": "node", "items": items})
    found = await client.snapshot("cluster", "big", "node", items)
    assert len(found) == 2

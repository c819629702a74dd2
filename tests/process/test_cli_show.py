"""Commands that show data: JSON that keeps its word, terminals, pipes, the ends of processes."""

import asyncio
import base64
import json
import signal
from typing import Any

import jsonschema
import pytest

from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection
from tests.support.command import LIMIT, ROOT, Shell
from tests.support.installation import Wire
from tests.support.own_installation import Client
from tests.support.state_stream import until_answer
from tests.support.terminal import on_a_terminal

SAID = ("kind", "id", "version", "trigger", "reason", "message")
"""What the JSON of an entity has in common with the data of its last transition."""
SCHEMAS = ROOT / "schemas" / "json"


def valid(name: str, found: Any) -> None:
    definitions = json.loads((SCHEMAS / "records.json").read_text())["$defs"]
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions}).validate(found)


async def seed(client: Client) -> None:
    """A tree with a bit of everything."""
    events: list[tuple[str, str, str, dict[str, Any] | None]] = [
        ("cluster", "adopt", "c1", {"phase": "Running"}),
        ("node_pool", "adopt", "c1/p", {"phase": "Running", "default": True}),
        ("node", "adopt", "c1/p/n2", {"phase": "Running"}),
        ("node", "adopt", "c1/p/n10", {"phase": "Failed", "conditions": ["NotReady"]}),
        ("component", "adopt", "c1/dns", {"phase": "Running"}),
        ("node", "stop", "c1/p/n2", None),
    ]
    for kind, trigger, name, data in events:
        done = await client.publish_and_wait(kind, trigger, name, data, source="/agent")
        assert done.records


async def refuse_bytes(client: Client, wire: Wire, body: bytes) -> int:
    """Have something refused that is no event; its place in the log."""
    prefix = (await client._session.layout()).prefix
    ack = await wire.publish_acked(f"{prefix}.events.c1.node.ready.p.n2", body)
    async with client.rejections(start="start", follow=True) as refused:
        async for rejection in refused:
            if rejection.cause.sequence == ack.seq:
                return refused.sequence
    raise AssertionError("it was not refused")


async def test_records_in_json_are_records(shell: Shell, client: Client, wire: Wire) -> None:
    await seed(client)
    place = await refuse_bytes(client, wire, b"\xc1\x00nonsense")
    records = (await shell("watch", "--from", "start", "--no-follow", "--rejections", "--json")).lines
    assert {record["type"].rpartition(".")[2] for record in records} == {"transitioned", "rejected"}
    for record in records:
        valid("Rejection" if record["type"].endswith(".rejected") else "Transition", record)
    watch = client.watch(start="start", rejections=True, follow=False)
    async for found in watch:
        record = records.pop(0)
        assert record.pop("logsequence") == watch.sequence
        record.pop("label", None)
        payload = record["data"].get("payload")
        if payload is not None:
            record["data"]["payload"] = base64.b64decode(payload)
        assert wire_codec.from_wire(record) == found
    assert records == []
    (refused,) = (await shell("rejections", "--from", str(place), "--json")).lines
    assert {**refused, "way_out": ""} == (await shell("rejections", "show", str(place), "--json")).json
    assert base64.b64decode(refused["data"]["payload"]) == b"\xc1\x00nonsense"


async def test_entities_in_json_are_those_of_records(shell: Shell, client: Client) -> None:
    await seed(client)
    listed = (await shell("list", "--json")).lines
    assert [(entity["kind"], entity["id"]) for entity in listed] == [
        ("cluster", "c1"), ("component", "c1/dns"), ("node_pool", "c1/p"), ("node", "c1/p/n2"), ("node", "c1/p/n10"),
    ]  # fmt: skip
    for entity in listed:
        alone = (await shell("get", entity["kind"], entity["id"], "--json")).json
        assert {name: value for name, value in alone.items() if name != "said"} == entity
        last = (await shell("history", entity["kind"], entity["id"], "--json")).lines[-1]
        valid("Transition", last)
        record = last["data"]
        assert [entity[word] for word in SAID] == [record[word] for word in SAID]
        assert (entity["time"], entity["cause"]) == (last["time"], {w: record["cause"][w] for w in entity["cause"]})
        for facet in entity["facets"].values():
            assert facet.pop("label") == last["label"]
            for more in ("schedulable", "advice"):
                facet.pop(more, None)
        assert {word: entity[word] for word in record["entity"]} == record["entity"]


async def test_a_tree_in_json_is_nested(shell: Shell, client: Client) -> None:
    await seed(client)
    top = (await shell("tree", "c1", "--json")).json
    assert [(child["kind"], [below["id"] for below in child["children"]]) for child in top["children"]] == [
        ("component", []),
        ("node_pool", ["c1/p/n2", "c1/p/n10"]),
    ]
    assert top["facets"]["phase"]["state"] == "Running"


async def test_a_rejection_with_what_was_sent(shell: Shell, client: Client, wire: Wire) -> None:
    await seed(client)
    refused = client.rejections()
    async for rejection in refused:
        assert rejection.reason == "guard"
    shown = (await shell("rejections", "show", str(refused.sequence))).out
    assert "autoscaling_mode is not set, stop needs Recycle" in shown
    assert '"type": "node.stop"' in shown
    assert "event, decoded:" in shown
    place = await refuse_bytes(client, wire, b"\xc1\x00nonsense\x1b[31m")
    raw = (await shell("rejections", "show", str(place))).out
    assert "event, not decodable:" in raw
    assert "c1 00 6e 6f 6e" in raw
    assert "..nonsense.[31m" in raw
    assert (await shell("rejections", "show", "1")).code == 4
    assert (await shell("rejections", "resend", str(place + 99))).code == 4


async def test_sending_a_refused_event_again(shell: Shell, client: Client) -> None:
    early = await client.publish_and_wait("node_pool", "create", "c1/p")
    place = str(early.records[0].sequence)
    assert isinstance(early.rejection, Rejection)
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    said = await shell("rejections", "resend", place, "--wait")
    assert said.code == 0
    assert "new -> Creating [Progressing]" in said.out
    again = (await shell("rejections", "resend", place, "--json")).json
    assert (again["sequence"], again["duplicate"]) == (3, True)


async def test_messages_cannot_forge_the_screen(shell: Shell, client: Client) -> None:
    message = "[red]plain[/red] \x1b[2Jgone\r\nnode c9 \u202eevil"
    await client.publish_and_wait("cluster", "adopt", "[bold]c1", {"phase": "Running", "message": message})
    for words in (
        ("watch", "--from", "start", "--no-follow"),
        ("get", "cluster", "[bold]c1"),
        ("history", "cluster", "[bold]c1"),
    ):
        said = await shell(*words)
        assert "[bold]c1" in said.out or words[0] == "history"
        assert r"[red]plain[/red] \x1b[2Jgone\r\nnode c9 \u202eevil" in said.out
    assert "[bold]c1" in (await shell("tree", "[bold]c1")).out
    assert "[bold]c1" in (await shell("list")).out


async def test_colours_on_a_terminal_only(shell: Shell, client: Client) -> None:
    await seed(client)
    for words in (("tree", "c1"), ("list",), ("get", "node", "c1/p/n10"), ("watch", "--from", "start", "--no-follow")):
        assert "\x1b[31m" in await on_a_terminal(shell, *words)
        assert "\x1b" not in (await shell(*words)).out
    assert "\x1b[3" not in (await on_a_terminal(shell, "tree", "c1", NO_COLOR="1")).replace("\x1b[3m", "")
    assert "\x1b" not in await on_a_terminal(shell, "get", "cluster", "nowhere", NO_COLOR="1")
    assert json.loads(await on_a_terminal(shell, "get", "cluster", "c1", "--json"))


async def test_a_progress_bar_on_a_terminal_only(shell: Shell) -> None:
    shown = await on_a_terminal(shell, "publish", "--file", "examples/morning.jsonl")
    assert "publishing" in shown
    assert "59 events stored" in shown


async def test_ctrl_c_ends_a_watch(shell: Shell, client: Client) -> None:
    await seed(client)
    process = await shell.start("watch", "--from", "start")
    assert process.stdout is not None
    assert b"cluster c1" in await process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = await asyncio.wait_for(process.communicate(), LIMIT)
    assert (process.returncode, said) == (130, b"")


async def count(client: Client) -> int:
    """The number of clusters."""
    return len([entity async for entity in client.list("cluster")])


@pytest.mark.parametrize(
    "words", [("watch", "--from", "start", "--json"), ("watch", "--from", "start"), ("list", "--json")]
)
async def test_a_reader_that_has_enough_ends_it_quietly(shell: Shell, client: Client, words: tuple[str, ...]) -> None:
    await client.publish_many(
        {
            "specversion": "1.0", "id": str(n), "source": "/x", "type": "cluster.adopt", "subject": f"cluster/c{n}",
            "data": {"phase": "Running", "message": "x" * 200},
        }
        for n in range(1_000)
    )  # fmt: skip
    await until_answer(lambda: count(client), 1_000)
    process = await shell.start(*words)
    assert process.stdout is not None
    assert await process.stdout.readline()
    process.stdout._transport.close()  # type: ignore[attr-defined]  # the only way to close our end of the pipe
    assert process.stderr is not None
    said = await asyncio.wait_for(process.stderr.read(), LIMIT)
    assert (await process.wait(), said) == (0, b"")


async def test_where_a_watch_begins(shell: Shell, client: Client) -> None:
    await seed(client)
    everything = (await shell("watch", "--from", "start", "--no-follow", "--json")).lines
    place = everything[2]["logsequence"]
    assert (await shell("watch", "--from", str(place), "--no-follow", "--json")).lines == everything[2:]
    for moment in ("1h", "2020-01-01", "2020-01-01T00:00:00Z"):
        assert (await shell("watch", "--from", moment, "--no-follow", "--json")).lines == everything
    assert (await shell("watch", "--no-follow", "--json")).lines == []
    assert (await shell("watch", "--from", "start", "--limit", "2", "--json")).lines == everything[:2]
    wrong = await shell("watch", "--from", "soon")
    assert (wrong.code, "how long ago (15m)" in wrong.err) == (2, True)


async def test_errors_tell_their_causes_and_tracebacks_only_where_asked_for(shell: Shell) -> None:
    brief = await shell("get", "cluster", "c1", "--prefix", "nowhere")
    assert (brief.code, brief.out) == (6, "")
    assert brief.err == (
        "error: the prefix 'nowhere' has no streams: run `phaseline up` or `phaseline worker` first, or check the prefix\n"
        "  `phaseline doctor` looks closer\n"
    )
    long = await shell("get", "cluster", "c1", "--prefix", "nowhere", "-v")
    assert long.code == 6
    assert "Traceback" in long.err
    assert long.err.endswith(brief.err)
    by_environment = await Shell(**{**shell.environment, "PHASELINE_PREFIX": "nowhere", "PHASELINE_VERBOSE": "1"})(
        "list"
    )
    assert "Traceback" in by_environment.err


async def test_selecting_by_conditions_and_counting_rejections(shell: Shell, client: Client) -> None:
    await seed(client)
    await client.publish_and_wait("node", "ready", "c1/p/n2", source="/agent")
    found = (await shell("watch", "node", "--condition", "NotReady", "--from", "start", "--no-follow", "--json")).lines
    assert [record["data"]["id"] for record in found] == ["c1/p/n10"]
    shown = await shell("list", "node", "--state", "{Failed,[NotReady,*]}", "--json")
    assert [entity["facets"]["phase"]["state"] for entity in shown.lines] == ["Failed"]
    wrong = await shell("list", "node", "--state", "{Failed,[NotReady")
    assert (wrong.code, "'{Failed,[NotReady' is no state: write a phase (Failed)" in wrong.err) == (2, True)
    counted = (await shell("rejections", "--summary", "--json")).lines
    assert [(one["reason"], one["kind"], one["source"], one["count"]) for one in counted] == [
        ("guard", "node", "/agent", 1)
    ]
    assert counted[0]["example"]["trigger"] == "stop"
    table = await shell("rejections", "--summary")
    assert "guard" in table.out
    assert "stop c1/p/n2: node c1/p/n2 is Running [Ok]" in " ".join(table.out.split())
    assert table.err.endswith("1 rejection\n")


async def test_what_is_bad_since_when_and_because_of_what(shell: Shell, client: Client) -> None:
    await seed(client)
    await client.publish_and_wait("node", "overdue", "c1/p/n10", source="/agent")
    bad = (await shell("list", "--class", "bad", "--sort-by", "bad-since", "--json")).lines
    assert [(one["id"], one["class"]) for one in bad] == [("c1/p/n10", "bad")]
    assert bad[0]["class_since"] < bad[0]["facets"]["phase"]["since"]
    assert (await shell("list", "--class", "bad", "--for", "1d", "--json")).lines == []
    wrong = await shell("list", "--for", "soon")
    assert (wrong.code, "'soon' is no duration: write seconds, or 90s, 10m, 2h or 1d" in wrong.err) == (2, True)
    [told] = (await shell("watch", "--class", "bad", "--no-follow", "--json")).lines
    assert [told[name] for name in ("what", "class", "until")] == ["lasts", "bad", None]
    assert (told["since"], told["entity"]["id"]) == (bad[0]["class_since"], "c1/p/n10")
    for choice in (("--for", "1d", "--from", "start"), ("--tree", "c2")):
        assert (await shell("watch", "--class", "bad", *choice, "--no-follow", "--json")).lines == []
    line = " ".join((await shell("watch", "--class", "bad", "--no-follow")).out.split())
    assert "node c1/p/n10 bad for " in line
    for words in (("--for", "5m"), ("--class", "bad", "--facet", "phase"), ("--class", "bad", "--rejections")):
        assert "--class" in (await shell("watch", *words)).err
    assert "class" in (await shell("get", "c1/p/n10")).out
    shown = (await shell("overview", "--json")).json
    assert [(one["id"], one["others"]) for one in shown["troubles"]] == [("c1/p/n10", 0)]
    printed = (await shell("overview")).out.splitlines()
    assert printed[0].startswith("5 entities in 1 tree: 1 bad, ")
    assert printed[1] == "bad now: 1"
    assert "node c1/p/n10" in printed[3]
    assert all(len(line) <= 80 for line in printed)


async def test_a_day_that_was_imported_in_a_second(shell: Shell, client: Client) -> None:
    for trigger, time in (("adopt", "08:00"), ("ready", "12:00"), ("not_ready", "09:00")):
        data = {"phase": "Failed", "conditions": ["NotReady"]} if trigger == "adopt" else {}
        await client.publish_and_wait("node", trigger, "c1/p/n", data, time=f"2026-03-02T{time}:00Z")
    await client.publish_and_wait("node", "cordon", "c1/p/n", time="0001-01-01T00:00:00Z")
    found = await shell("history", "node", "c1/p/n", "--clock", "event", "--json")
    assert [record["data"]["trigger"] for record in found.lines] == ["adopt", "not_ready", "ready", "cordon"]
    assert found.err.endswith("1 record has no time of its own: the server's counts there\n")
    lanes = (await shell("timeline", "c1/p/n", "--clock", "event", "--to", "2026-03-02T13:00:00Z", "--json")).lines
    assert lanes[0]["intervals"][0]["from"] == "2026-03-02T08:00:00.000000000Z"
    wrong = await shell("timeline", "c1/p/n", "--from", "4", "--clock", "event")
    assert (wrong.code, "with the clock `event`, name a time" in wrong.err) == (2, True)

"""`phaseline publish`: one event, a file of them, and everything that can be wrong with either."""

import asyncio
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from phaseline.schemas import codec
from tests.support import closed_port
from tests.support.command import Shell
from tests.support.command_line import cli
from tests.support.own_installation import Client

MORNING = Path("examples/morning.jsonl")


def event(number: int, **attributes: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0", "id": str(number), "source": "/file", "type": "node.adopt",
        "subject": f"node/c1/p/n{number}", "data": {"phase": "Running"}, **attributes,
    }  # fmt: skip


async def test_one_event(shell: Shell, client: Client) -> None:
    said = await shell("publish", "cluster", "create", "c1")
    assert said == (0, "event 1\n", "")
    words = ("publish", "cluster", "created", "c1", "--id", "e1", "--source", "/me", "--sequence", "7",
             "--time", "2026-03-02T08:00:00Z", "--data", '{"message": "up"}', "--json")  # fmt: skip
    assert (await shell(*words)).json == {"sequence": 2, "duplicate": False, "event": "e1", "source": "/me"}
    assert (await shell(*words)).json["duplicate"]
    assert (await shell(*words[:-1])).out == "event 2, a duplicate: it was stored before\n"
    body = codec.decode(await client.event(2) or b"")
    assert (body["sequence"], body["time"], body["data"]) == (7, "2026-03-02T08:00:00Z", {"message": "up"})


async def test_extension_attributes_are_kept(shell: Shell, client: Client) -> None:
    given = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "order": "4711=a"}
    words = [word for name, text in given.items() for word in ("--extension", f"{name}={text}")]
    done = await shell("publish", "cluster", "create", "c1", *words, "--wait", "--json")
    assert [one["data"]["cause"]["extensions"] for one in done.json["records"]] == [given]
    dry = await shell("publish", "cluster", "created", "c1", *words, "--dry-run", "--json")
    assert dry.lines[0]["data"]["cause"]["extensions"] == given
    long = await shell("publish", "cluster", "created", "c1", "--extension", f"order={'x' * 1024}")
    assert (long.code, "at most 16, of 1,024 bytes together" in " ".join(long.err.split())) == (2, True), long


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--extension traceparent", "'traceparent' has no value: write NAME=VALUE"),
        ("--extension traceparent=", "has no value"),
        ("--extension source=/me", "'source' is no extension: the envelope itself has"),
        ("--extension Trace-Parent=1", "'Trace-Parent' is no name of an extension: names are of a-z and 0-9"),
        ("--extension order=1 --extension order=2", "--extension order is given 2 times"),
        ("--file x.jsonl --extension order=1", "leave out KIND TRIGGER ID and the options of a single event"),
    ],
)
def test_wrong_extension_attributes(words: str, problem: str) -> None:
    found = CliRunner().invoke(cli, ["publish", *words.split()])
    assert (found.exit_code, problem in " ".join(found.output.split())) == (2, True), found.output


async def test_where_events_come_from_by_default(shell: Shell, client: Client) -> None:
    await shell("publish", "cluster", "create", "c1")
    assert codec.decode(await client.event(1) or b"")["source"].startswith("/phaseline/cli/")


async def test_waiting_for_what_comes_of_it(shell: Shell) -> None:
    created = await shell("publish", "--wait", "cluster", "create", "c1")
    assert created.code == 0
    assert re.fullmatch(
        r"event 1\n +\d+  \S+ \S+  cluster c1  new -> Creating \[Progressing\]  create by /\S+\n", created.out
    )
    refused = await shell("publish", "cluster", "update", "c1", "--wait=5")
    assert refused.code == 1
    assert "cluster c1  update rejected, illegal: cluster c1 is Creating [Progressing]" in refused.out
    assert (await shell("publish", "cluster", "created", "c1", "--wait", "5")).code == 0
    nothing = await shell("publish", "cluster", "created", "c1", "--wait")
    assert (nothing.code, nothing.out) == (0, "event 4\nno effect: its entity was in that state already\n")
    for number, says in ((7, "transitions"), (7, "none")):
        words = ("publish", "cluster", "error", "c1", "--source", "/a", "--sequence", str(number), "--wait")
        assert (await shell(*words, "--json")).json["effect"] == says
    assert re.search(r"\nno effect: repeat of number 7, heard at \S+Z\n", (await shell(*words)).out)
    older = await shell(*words[:-2], "6", "--wait")
    assert (older.code, "error rejected, repeat: cluster c1 is " in older.out) == (1, True)


async def test_waiting_for_what_comes_of_a_file(shell: Shell, tmp_path: Path) -> None:
    told = [("cluster.create", "cluster/c1"), ("node.create", "node/c1/p/n"), ("cluster.created", "cluster/c1")]
    events = tmp_path / "events.jsonl"
    lines = (
        {"specversion": "1.0", "id": f"{number}", "source": "/t", "type": type_, "subject": subject}
        for number, (type_, subject) in enumerate(told)
    )
    events.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    first = await shell("publish", "--file", str(events), "--wait")
    assert (first.code, first.out.splitlines()[0]) == (1, "3 events stored; 1 rejection")
    assert "node c1/p/n  create rejected, unknown_parent: node c1/p/n is Absent" in first.out
    assert (
        "then create at node_pool c1/p; or if it is there: reported at node_pool c1/p with the state you see"
        in first.out
    )
    again = await shell("publish", "--file", str(events), "--wait", "--json")
    assert (again.code, again.json) == (0, {"stored": 0, "duplicates": 3, "rejections": 0})
    assert "rejections" not in (await shell("publish", "--file", str(events), "--json")).json


async def test_waiting_for_json(shell: Shell) -> None:
    created = (await shell("publish", "cluster", "create", "c1", "--wait", "--json")).json
    assert (created["effect"], len(created["records"])) == ("transitions", 1)
    assert created["records"][0]["data"]["to"] == {"state": "Creating", "conditions": ["Progressing"]}
    refused = await shell("publish", "cluster", "crate", "c1", "--force", "--wait", "--json")
    assert refused.code == 1
    assert (refused.json["effect"], refused.json["records"][0]["data"]["reason"]) == ("rejection", "unknown_trigger")


async def test_what_would_be_refused_is_not_sent_unless_forced(shell: Shell) -> None:
    for words, named in (
        (("nod", "create", "c1"), "there are cluster, node_pool, node, component"),
        (("cluster", "crate", "c1"), "it has create, adopt, created"),
        (("cluster", "create", "c1/x"), "whose ids are <cluster>"),
    ):
        said = await shell("publish", *words)
        assert (said.code, said.out) == (2, "")
        assert named in said.err
        assert "--force sends it anyway" in said.err
        assert (await shell("publish", *words, "--force", "--wait")).code == 1
    never = await shell("publish", "cluster", "create", "c1//x", "--force")
    assert (never.code, "--force" in never.err) == (2, False)
    assert "empty part" in never.err
    assert len((await shell("rejections", "--json")).lines) == 3


WRONG = [
    (("publish",), "give KIND TRIGGER ID"),
    (("publish", "cluster", "create"), "give KIND TRIGGER ID"),
    (("publish", "cluster", "create", "c1", "--data", "{"), "not valid JSON"),
    (("publish", "cluster", "create", "c1", "--data", "[1]"), "must be a JSON object"),
    (("publish", "cluster", "create", "c1", "--sequence", "-1"), "--sequence"),
    (("publish", "cluster", "create", "c1", "--wait", "0"), "--wait"),
    (("publish", "cluster", "create", "c1", "--file", "x"), "--file contains whole events"),
    (("publish", "--file", "x", "--id", "1"), "--file contains whole events"),
    (("publish", "--file", "."), "is a directory"),
    (("publish", "cluster", "create", "c1", "--prefix", "a..b"), "--prefix"),
    (("publish", "cluster", "create", "c1", "--nats", "ftp://x"), "--nats"),
    (("publish", "cluster", "create", "c1", "--timeout", "0"), "--timeout"),
    (("publish", "cluster", "create", "c1", "--tls-ca", "/nowhere"), "--tls-ca"),
]


@pytest.mark.parametrize(("words", "named"), WRONG, ids=lambda value: str(value)[-40:])
def test_wrong_command_lines(words: tuple[str, ...], named: str) -> None:
    said = CliRunner().invoke(cli, words, prog_name="phaseline")
    assert (said.exit_code, said.stdout) == (2, "")
    assert named in said.stderr
    assert "phaseline publish --help" in said.stderr


async def test_a_file_of_events(shell: Shell) -> None:
    events = len(MORNING.read_text().splitlines())
    first = await shell("publish", "--file", str(MORNING))
    assert (first.code, first.out, first.err) == (0, f"{events} events stored\n", "")
    again = await shell("publish", "--file", str(MORNING), "--window", "3")
    assert again.out == f"0 events stored, {events} duplicates\n"
    assert (await shell("publish", "--file", str(MORNING), "--json")).json == {"stored": 0, "duplicates": events}


@pytest.mark.parametrize("form", ["jsonl", "without an end", "with a mark and blank lines", "msgpack"])
@pytest.mark.parametrize("way", ["file", "pipe"])
async def test_every_form_comes_every_way(shell: Shell, tmp_path: Path, form: str, way: str) -> None:
    lines = [json.dumps(event(number)) for number in range(1_000)]
    body = {
        "jsonl": "\n".join(lines) + "\n",
        "without an end": "\n".join(lines),
        "with a mark and blank lines": "\ufeff\n" + "\r\n\n".join(lines) + "\n\n",
    }.get(form, "").encode() or b"".join(codec.encode(event(number)) for number in range(1_000))
    if way == "pipe":
        said = await shell("publish", "--file", "-", stdin=body)
    else:
        (tmp_path / "events").write_bytes(body)
        said = await shell("publish", "--file", str(tmp_path / "events"))
    assert (said.code, said.out) == (0, "1,000 events stored\n"), said.err


BROKEN = [
    (b"nonsense", "beginning: neither JSON lines nor a msgpack stream"),
    (b'[{"id": 1}]', "perhaps a JSON array: write one event per line"),
    (b'{"id": 1', "line 1: JSON: it is cut off: the body ends inside a value"),
    (b"GOOD\nGOOD\n\n{]\n", "line 4: JSON"),
    (b"GOOD\n7\n", "line 2: JSON: an event is an object, this line begins with b'7'"),
    (b"GOOD\n" + json.dumps(event(2, type="node.adpt")).encode(), "line 2: unknown_trigger"),
    (b"GOOD\n" + json.dumps(event(2, source="")).encode(), "line 2: invalid: envelope"),
    (b"GOOD\n" + json.dumps(event(2, subject=None)).encode(), "line 2: invalid: envelope: subject must be node/<id>"),
    (codec.encode(event(1)) + codec.encode(event(2))[:20], "event 2: msgpack: cut off inside a value after byte"),
    (codec.encode(event(1)) + b"\x07", "event 2: msgpack: an event is a map, found int"),
    (codec.encode(event(1)) + b"\xc1", "event 2: msgpack"),
    (codec.encode(event(1)) + codec.encode(event(2, data={})), "event 2: invalid: data.phase is required"),
]


async def test_a_broken_file_says_where_and_is_not_begun(shell: Shell, tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(len(BROKEN))]
    for path, (body, _) in zip(paths, BROKEN, strict=True):
        path.write_bytes(body.replace(b"GOOD", json.dumps(event(1)).encode()))
    answers = await asyncio.gather(*(shell("publish", "--file", str(path)) for path in paths))
    for path, (_, says), said in zip(paths, BROKEN, answers, strict=True):
        assert (said.code, said.out) == (2, ""), says
        assert said.err.startswith(f"error: {path}, ")
        assert says in said.err
    missing = await shell("publish", "--file", str(tmp_path / "nowhere"))
    assert (missing.code, missing.err) == (2, f"error: {tmp_path}/nowhere, beginning: No such file or directory\n")
    assert (await shell("publish", "cluster", "create", "c1")).out == "event 1\n"


async def test_a_broken_pipe_of_events_says_where_and_how_far_it_came(shell: Shell) -> None:
    good = b"".join(json.dumps(event(number)).encode() + b"\n" for number in range(3))
    said = await shell("publish", "--file", "-", stdin=good + b"{]\n" + good)
    assert (said.code, said.out) == (2, "")
    assert "stopped; 3 events stored before that" in said.err
    assert "error: standard input, line 4: JSON" in said.err
    forced = await shell("publish", "--file", "-", "--force", stdin=json.dumps(event(7, type="node.adpt")).encode())
    assert (forced.code, forced.out) == (0, "1 event stored\n")


async def test_a_pipe_is_sent_as_it_comes(shell: Shell, client: Client) -> None:
    process = await shell.start("publish", "--file", "-", stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    async with client.watch("node", start="start") as watch:
        for number in range(3):
            process.stdin.write(json.dumps(event(number)).encode() + b"\n")
            assert (await anext(watch)).entity.id == f"c1/p/n{number}"
    process.stdin.close()
    out, _ = await process.communicate()
    assert (process.returncode, out) == (0, b"3 events stored\n")


async def test_a_named_pipe_is_a_pipe(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    process = await shell.start("publish", "--file", str(path))
    await asyncio.to_thread(path.write_bytes, json.dumps(event(1)).encode())
    out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"1 event stored\n"), err


async def test_ctrl_c_ends_a_pipe_that_is_waiting(shell: Shell, client: Client) -> None:
    process = await shell.start("publish", "--file", "-", stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    async with client.watch("node", start="start") as watch:
        process.stdin.write(json.dumps(event(1)).encode() + b"\n")
        await anext(watch)
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(60):
        assert await process.wait() == 130
    process.stdin.close()


async def test_nobody_there(shell: Shell) -> None:
    lost = Shell(PHASELINE_NATS=closed_port.NATS, PHASELINE_TIMEOUT="2")
    for words in (
        ("publish", "cluster", "create", "c1"),
        ("publish", "--file", str(MORNING)),
        ("get", "cluster", "c1"),
    ):
        said = await lost(*words)
        assert (said.code, said.out) == (3, "")
        first, hint, _ = said.err.splitlines()
        assert first.startswith(f"error: cannot reach NATS at {closed_port.NATS}: ")
        assert "phaseline up" in hint
    for words in (("publish", "cluster", "create", "c1"), ("publish", "--file", str(MORNING))):
        said = await shell(*words, "--prefix", "elsewhere")
        assert said.code == 6
        assert "error: the prefix 'elsewhere' has no streams" in said.err


async def test_no_worker_is_there(shell: Shell, client: Client) -> None:
    layout = await client._session.layout()
    await client._session.wire.api(
        "STREAM.CREATE.idle-EVENTS",
        {
            "name": "idle-EVENTS",
            "subjects": ["idle.events.*.>"],
            "allow_direct": True,
            "metadata": {"phaseline.partitions": "1"},
        },
    )
    assert layout.partitions == 2
    for stream in ("idle-LOG", "idle-STATE"):
        await client._session.wire.api(f"STREAM.CREATE.{stream}", {"name": stream, "subjects": [f"{stream}.>"]})
    said = await shell("publish", "cluster", "create", "c1", "--prefix", "idle", "--wait", "0.3")
    assert (said.code, said.out) == (3, "")
    assert "event 1 is stored, but no worker decided it within 0.3 s" in said.err

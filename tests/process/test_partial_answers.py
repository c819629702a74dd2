"""What commands and clients say of what they do not know: nothing at all, a time before the log, a time to come."""

import asyncio
from pathlib import Path

import pytest

from phaseline.schemas.errors import InvalidInput
from tests.support.command import Shell
from tests.support.installation import Settings, Wire, provision
from tests.support.own_installation import Client

LATER = "2099-01-01T00:00Z"


async def test_nothing_known_is_not_good(wire: Wire, settings: Settings, alone: Shell) -> None:
    await provision(wire, settings)
    said = await alone("overview")
    assert (said.code, said.out) == (0, "0 entities in 0 trees\nnothing is known\n"), said


async def test_good_is_said_only_where_all_is_known(client: Client, shell: Shell) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    assert "\nnothing is bad\n" in (await shell("overview")).out
    await client.publish_and_wait("cluster", "configure", "c1", {"silence_after": 0.2})
    await client.publish("cluster", "heartbeat", "c1")
    async with asyncio.timeout(120), client.watch(facet="contact", state="Silent", start="start") as records:
        await anext(records)
    assert "\nnothing is bad of what is known\n" in (await shell("overview")).out


@pytest.mark.parametrize(
    "words",
    [("list",), ("list", "--json"), ("overview",), ("overview", "--json"), ("changes", "--from", "start"), ("levels",)],
    ids=" ".join,
)
async def test_of_a_time_before_the_log_nothing_is_known(client: Client, shell: Shell, words: tuple[str, ...]) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    when = "--at" if words[0] in ("list", "overview") else "--to"
    more = ("--from", "2000-01-01") if words == ("levels",) else ()
    said = await shell(*words, *more, when, "2001-01-01")
    assert (said.code, "the log begins later: nothing is known of that time" in said.err) == (0, True), said
    assert "nothing is known of that time" not in (await shell(*words, *more, when, "0s")).err


@pytest.mark.parametrize(
    "words",
    [
        ("watch", "--no-follow"), ("watch",), ("watch", "--class", "bad", "--no-follow"), ("rejections",),
        ("rejections", "--summary"), ("notices", "try", "--rules", "examples/notices.yaml"), ("changes",), ("levels",),
        ("timeline", "c1"),
    ],
    ids=" ".join,
)  # fmt: skip
async def test_nothing_is_said_of_a_time_to_come(client: Client, shell: Shell, words: tuple[str, ...]) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    said = await shell(*words, "--from", LATER)
    assert (said.code, said.out, LATER[:10] in said.err) == (2, "", True), said


async def test_a_client_does_not_wait_for_a_time_to_come(client: Client) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    for records in (
        client.watch(start=LATER), client.rejections(start=LATER), client.watch(class_="bad", start=LATER),
        client.follow("later", start=LATER),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match="is in the future"):
            await anext(aiter(records))


@pytest.mark.parametrize("role", ["EVENTS", "LOG", "STATE"])
async def test_a_stream_that_was_deleted_is_named(wire: Wire, settings: Settings, alone: Shell, role: str) -> None:
    await provision(wire, settings)
    gone = settings.stream(role)
    await wire.api(f"STREAM.DELETE.{gone}")
    reads = ("get", "c1"), ("list",), ("watch", "--no-follow"), ("doctor",), ("admin", "streams")
    for words in (*reads, ("publish", "cluster", "create", "c1")) if role == "EVENTS" else reads:
        said = await alone(*words)
        assert (said.code, f"but not {gone}: deleted?" in said.err + said.out) == (6, True), said


async def test_where_no_worker_answers_that_is_said(wire: Wire, settings: Settings, alone: Shell) -> None:
    await provision(wire, settings)
    said = await alone("admin", "sources")
    assert (said.code, said.out, "no worker answers on" in said.err) == (3, "", True), said


async def test_what_was_archived_is_missing_for_programs_too(client: Client, shell: Shell, tmp_path: Path) -> None:
    for trigger in ("create", "created", "update"):
        await client.publish_and_wait("cluster", trigger, "c1")
    archived = await shell("log", "archive", "--keep", "0s", "--to", str(tmp_path / "archive"))
    assert archived.code == 0, archived
    for words in (("history", "c1"), ("history", "c1", "--json"), ("timeline", "c1"), ("timeline", "c1", "--json")):
        said = await shell(*words)
        told = "versions 1 to 2 are no longer in the log" if words[0] == "history" else "the last record of each entity"
        assert (said.code, told in said.err) == (0, True), said
        whole = await shell(*words, "--archive", str(tmp_path / "archive"))
        assert (whole.code, whole.err) == (0, ""), whole

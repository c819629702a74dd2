"""`phaseline admin streams`: what differs, what --apply changes, what it refuses; on a real server."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest_asyncio
from structlog.testing import capture_logs

from tests.support.accounts_server import accounts_installation
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.command import Shell
from tests.support.installation import Layout, Settings, Wire, provision
from tests.support.own_installation import examined


@pytest_asyncio.fixture
async def layout(wire: Wire, settings: Settings) -> AsyncIterator[Layout]:
    yield await provision(wire, replace(settings, partitions=1), BUILT_IN_KINDS.copies.values())


async def config_of(wire: Wire, stream: str) -> dict[str, Any]:
    found: dict[str, Any] = (await wire.api(f"STREAM.INFO.{stream}"))["config"]
    return found


async def spoil(wire: Wire, stream: str, **changes: Any) -> None:
    """Change a stream as an operator may, or as an earlier version made it."""
    await wire.api(f"STREAM.UPDATE.{stream}", {**await config_of(wire, stream), **changes})


async def test_a_fresh_installation_has_nothing_to_change(alone: Shell, layout: Layout) -> None:
    said = await alone("admin", "streams")
    assert (said.code, said.err) == (0, "all streams are as they are wanted\n")
    lines = said.out.splitlines()
    assert lines[0].split() == ["STREAM", "MESSAGES", "HOLDS", "LIMIT", "FULL", "REPLICAS"]
    assert [line.split()[0] for line in lines[1:]] == list(layout.streams)
    assert (await alone("admin", "streams", "--apply", "--json")).code == 0


async def test_a_missing_stream_is_not_well(alone: Shell, wire: Wire, layout: Layout) -> None:
    await wire.api(f"STREAM.DELETE.{layout.lease}")
    for words in ((), ("--apply",), ("--log-max-bytes", "2MB", "--apply")):
        said = await alone("admin", "streams", *words)
        assert (said.code, f"{layout.lease} does not exist" in said.err) == (1, True), said
        assert "all streams" not in said.err


async def test_differences_are_shown_and_changed(alone: Shell, wire: Wire, layout: Layout) -> None:
    await spoil(wire, layout.events, discard="old", description="ours")
    await spoil(wire, layout.log, max_bytes=10**9)
    words = ("admin", "streams", "--events-max-bytes", "20GB", "--log-max-bytes", "2MB", "--events-max-age", "86400")
    shown = await alone(*words)
    assert (shown.code, shown.err) == (1, "--apply changes this\n")
    rows = shown.out.partition("\n\n")[2].splitlines()[1:]
    assert [row.split("  ")[0] for row in rows] == [layout.events] * 3 + [layout.log] * 2
    assert "drops the oldest  refuses" in shown.out
    as_json = {line["stream"]: line for line in (await alone(*words, "--json")).lines}
    assert as_json[layout.events]["differences"][1] == {
        "setting": "max bytes", "found": "no limit", "wanted": "20.0 GB", "can_change": True,
        "effect": "a stream with so much refuses messages",
    }  # fmt: skip
    done = await alone(*words, "--apply")
    assert (done.code, done.err) == (0, f"{layout.events} is changed\n{layout.log} is changed\n")
    now = await config_of(wire, layout.events)
    assert (now["discard"], now["max_bytes"], now["max_age"]) == ("new", 20 * 10**9, 86_400 * 10**9)
    assert (now["description"], now["metadata"]["phaseline.partitions"]) == ("ours", "1")
    assert (await config_of(wire, layout.log))["max_bytes"] == -1
    assert (await alone(*words)).code == 0
    assert (await alone("admin", "streams")).code == 0


async def test_what_is_impossible_changes_nothing(alone: Shell, wire: Wire, layout: Layout) -> None:
    for words, way_out in (
        (("--storage", "memory"), "import it under another --prefix"),
        (("--replicas", "3"), "no member of a cluster"),
    ):
        said = await alone("admin", "streams", *words, "--events-max-age", "86400", "--apply")
        assert said.code == 6
        assert "nothing was changed" in said.err
        assert way_out in said.err
        assert way_out.partition(" ")[0] in said.out
    assert (await config_of(wire, layout.events))["max_age"] == 0


async def test_a_refusal_of_the_server_is_told(alone: Shell, layout: Layout) -> None:
    said = await alone("admin", "streams", "--dedupe-window", "900", "--apply")
    assert said.code == 0
    said = await alone("admin", "streams", "--events-max-age", "700", "--apply")
    assert said.code == 6
    assert f"NATS refuses to change max age of {layout.events}: duplicates window can not be larger" in said.err


async def test_wrong_options_are_refused(alone: Shell, layout: Layout) -> None:
    for words, problem in (
        (("--log-max-bytes", "much"), "'much' is no size"),
        (("--log-max-bytes", "5"), "at least 1,000,000 bytes"),
        (("--placement-tags", "a b"), "'a b' is not a tag"),
        (("--replicas", "2"), "'2' is not one of"),
    ):
        said = await alone("admin", "streams", *words)
        assert said.code == 2
        assert problem in said.err


async def test_provisioning_doctor_and_command_agree(
    alone: Shell, wire: Wire, layout: Layout, settings: Settings
) -> None:
    await spoil(wire, layout.state, discard="old")
    with capture_logs() as logged:
        await provision(wire, replace(settings, replicas=3), BUILT_IN_KINDS.copies.values())
    told = [(line["stream"], line["setting"]) for line in logged if line["event"] == "stream_differs"]
    assert told.count((layout.state, "at the limit")) == 1
    assert {setting for _, setting in told} == {"at the limit", "replicas"}
    found = {one.check: one for one in await examined(settings, BUILT_IN_KINDS)}[f"stream {layout.state}"]
    assert (found.verdict, "at the limit drops the oldest, wanted refuses" in found.found) == ("warning", True)
    assert "phaseline admin streams" in found.advice
    assert (await alone("admin", "streams")).code == 1


async def test_a_missing_subject_is_added(alone: Shell, wire: Wire, layout: Layout, settings: Settings) -> None:
    subjects = (await config_of(wire, layout.log))["subjects"]
    await spoil(wire, layout.log, subjects=subjects[:-1])
    found = {one.check: one for one in await examined(settings, BUILT_IN_KINDS)}[f"stream {layout.log}"]
    assert found.verdict == "problem"
    assert (await alone("admin", "streams", "--apply")).code == 0
    assert sorted((await config_of(wire, layout.log))["subjects"]) == sorted(subjects)


async def test_a_stream_that_is_made_later_is_like_the_log(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1, storage="memory"), BUILT_IN_KINDS.copies.values())
    await wire.api(f"STREAM.DELETE.{layout.live}")
    await provision(wire, settings, BUILT_IN_KINDS.copies.values())
    assert (await config_of(wire, layout.live))["storage"] == "memory"


async def test_the_role_operator_suffices_and_readers_are_told() -> None:
    async with accounts_installation() as server:

        def as_user(user: str) -> Shell:
            settings = server.settings(user)
            return Shell(
                PHASELINE_NATS=server.url, PHASELINE_NKEY=str(settings.nkey), PHASELINE_PREFIX=settings.prefix,
                PHASELINE_INBOX_PREFIX=settings.inbox_prefix, PHASELINE_API_PREFIX=settings.api_prefix,
            )  # fmt: skip

        assert (await as_user("operator")("admin", "streams", "--events-max-bytes", "9GB", "--apply")).code == 0
        refused = await as_user("reader")("admin", "streams")
        assert refused.code == 5
        assert "the role operator may" in refused.err

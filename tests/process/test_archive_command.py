"""`phaseline log archive`, and the commands that read an archive together with the streams."""

import asyncio
import random
import signal
from pathlib import Path

from tests.support.archives import leave_window
from tests.support.command import Shell, ended
from tests.support.installation import until_decided
from tests.support.own_installation import Client

READS = (
    ("get", "cluster", "shop-eu", "--json"),
    ("list", "--all", "--json"),
    ("tree", "shop-eu", "--json"),
    ("why", "node", "shop-eu/web/web-2", "--json"),
)


async def morning(shell: Shell, client: Client) -> int:
    """A small history; returns a place in the middle of its log."""
    assert (await shell("publish", "--file", "examples/morning.jsonl")).code == 0
    installation = await client._session.installation()
    await until_decided(installation.wire, installation.layout)
    return int((await installation.wire.api(f"STREAM.INFO.{installation.layout.log}"))["state"]["last_seq"])


async def test_commands_answer_as_before(shell: Shell, client: Client, tmp_path: Path) -> None:
    place, folder = await morning(shell, client), tmp_path / "archive"
    past = [await shell(*words, "--at", str(place - 20)) for words in READS]
    history = (await shell("history", "node", "shop-eu/web/web-2", "--json")).out
    changes = (await shell("changes", "--from", "20", "--to", str(place), "--json")).out
    replayed = (await shell("log", "replay", "--json")).out
    exports = [
        ("all.plog.zst", "--records"),
        ("test.jsonl", "--as-test", "--tree", "shop-eu", "--from", "9", "--to", "40"),
    ]
    for name, *options in exports:
        assert (await shell("log", "export", str(tmp_path / name), *options)).code == 0

    done = await shell("log", "archive", "--before", "now", "--to", str(folder), "--json")
    assert (done.code, done.json["events"], done.json["missing"]) == (0, 59, [])
    assert (done.json["trimmed"]["events"], done.json["trimmed"]["young"]) == (0, 59)
    again = await shell("log", "archive", "--keep", "0s", "--to", str(folder))
    assert (again.code, again.out, "nothing more to archive" in again.err) == (0, "", True)
    assert "59 events of the last 10 m 0 s stay in EVENTS too" in again.err
    await leave_window(await client._session.installation())
    late = await shell("log", "archive", "--keep", "0s", "--to", str(folder), "--json")
    assert (late.json["events"], late.json["trimmed"]["events"], late.json["trimmed"]["young"]) == (0, 59, 0)
    checked = await shell("log", "archive", "--check", str(folder), "--json")
    assert (checked.code, checked.json["events"], checked.json["position"]) == (0, 59, 59)

    late = await shell("get", "cluster", "shop-eu", "--at", str(place - 20))
    assert (late.code, "--archive" in late.err) == (4, True)
    assert (await shell("changes", "--from", "20")).code == 4
    assert (await shell("watch", "--from", "20", "--no-follow")).code == 4
    for command in ("watch --no-follow", "changes", "rejections list"):
        from_start = [*command.split(), "--from", "start", "--json"]
        begun = await shell(*from_start)
        assert f"archived up to {done.json['place']} (" in begun.err
        whole = await shell(*from_start, "--archive", str(folder))
        assert (whole.code, "archived up to" in whole.err) == (0, False)
    assert "give --http too" in (await shell("up", "--archive", str(folder))).err
    assert (await shell("list", "--json")).code == 0
    assert (await shell("log", "replay", "--audit")).code == 0

    both = Shell(**{**shell.environment, "PHASELINE_ARCHIVE": str(folder)})
    assert [(await both(*words, "--at", str(place - 20))).out for words in READS] == [one.out for one in past]
    assert (await both("history", "node", "shop-eu/web/web-2", "--json")).out == history
    assert (await both("changes", "--from", "20", "--to", str(place), "--json")).out == changes
    assert (await both("log", "replay", "--json", "--jobs", "2")).out == replayed
    audited = await both("log", "replay", "--audit", "--json")
    assert (audited.code, audited.json["events"], audited.json["holds"]) == (0, 59, True), audited
    for name, *options in exports:
        (tmp_path / name).rename(tmp_path / f"before-{name}")
        done = await both("log", "export", str(tmp_path / name), *options, "--json")
        assert done.code == 0, done.err
        assert (tmp_path / name).read_bytes() == (tmp_path / f"before-{name}").read_bytes(), name
    late = await shell("log", "export", str(tmp_path / "late.plog"))
    assert "events up to 59 left out: they are in an archive (--archive DIR)" in late.err
    for words in (("log", "export", "x.plog"), ("serve", "--listen", "127.0.0.1:0")):
        found = await shell(*words, "--archive", str(tmp_path / "nothing"))
        assert (found.code, "manifest.json" in found.err) == (2, True), found
    missing = await shell("list", "--at", "20", "--archive", str(tmp_path / "nothing"))
    assert (missing.code, "manifest.json" in missing.err) == (2, True)


async def test_a_damaged_archive_is_noticed(shell: Shell, client: Client, tmp_path: Path) -> None:
    await morning(shell, client)
    assert (await shell("log", "archive", "--before", "now", "--to", str(tmp_path))).code == 0
    [part] = tmp_path.glob("part-*.plog.zst")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    checked = await shell("log", "archive", "--check", str(tmp_path))
    assert (checked.code, part.name in checked.err) == (2, True)
    assert (await shell("log", "replay", "--audit", "--archive", str(tmp_path))).code == 2
    for words in (
        ("--to", "x"), ("--before", "now"), ("--before", "now", "--keep", "1d", "--to", "x"),
        ("--check", "x", "--to", "y"),
    ):  # fmt: skip
        assert (await shell("log", "archive", *words)).code == 2


async def test_it_may_be_killed_at_any_time(shell: Shell, client: Client, tmp_path: Path) -> None:
    await morning(shell, client)
    before = (await shell("watch", "--from", "start", "--no-follow", "--json")).out
    chance = random.Random(3)
    for _ in range(3):
        async with ended(await shell.start("log", "archive", "--before", "now", "--to", str(tmp_path))) as running:
            assert running.stderr is not None
            try:
                async with asyncio.timeout(chance.uniform(0.0, 0.4)):
                    await running.wait()
            except TimeoutError:
                running.send_signal(signal.SIGKILL)
    done = await shell("log", "archive", "--before", "now", "--to", str(tmp_path))
    assert done.code == 0, done.err
    both = await shell("watch", "--from", "start", "--no-follow", "--json", "--archive", str(tmp_path))
    assert both.out == before
    assert (await shell("log", "replay", "--audit", "--archive", str(tmp_path))).code == 0

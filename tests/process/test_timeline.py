"""States over time, by the client and the command, on a real installation."""

from datetime import UTC, datetime, timedelta

import pytest

from phaseline import Moment, When
from phaseline.schemas.errors import InvalidInput, TreeUnknown
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.command import shell_of
from tests.support.installation import Layout, Settings, Wire
from tests.support.lanes import alive, assert_sound, at
from tests.support.log_check import folded, whole
from tests.support.own_installation import Client
from tests.support.raising import raises

# ---- a real installation


async def test_the_client_and_the_command(wire: Wire, settings: Settings, layout: Layout) -> None:
    log = await whole(wire, layout)
    async with Client.open(settings, kinds=KINDS) as client:
        found = await client.timeline("c2")
        assert_sound(found)
        records = [
            r.record for r in log if isinstance(r.record, Transition) and r.record.entity.id.split("/")[0] == "c2"
        ]
        for record in records[::9]:
            assert at(found, record.time_ns) == alive(records, record.time_ns)
        moment = await client.moment(log[len(log) // 2].sequence)
        part = await client.timeline("c2", start=moment)
        assert_sound(part)
        then = folded(log, moment.place)
        assert {lane.id for lane in part.lanes} >= {
            name for (_, name), e in then.items() if name.split("/")[0] == "c2" and e.facets[0].state.phase != "Deleted"
        }
        with pytest.raises(TreeUnknown):
            await client.timeline("nobody")
        with pytest.raises(TreeUnknown):
            await client.timeline("c2", end=datetime.now(UTC) - timedelta(days=1))
        await ranges_that_cannot_be(client, moment)
    shell = shell_of(settings)
    lanes = (await shell("timeline", "c2", "--json")).lines
    assert {(lane["kind"], lane["id"]) for lane in lanes} == {(lane.kind, lane.id) for lane in found.lanes}
    reversed_ = await shell("timeline", "c2", "--from", "2026-03-02T09:00Z", "--to", "2026-03-02T08:00Z")
    assert (reversed_.code, reversed_.out, "nothing can be read from 2026" in reversed_.err) == (2, "", True)
    for words in (
        ("log", "replay", "--from", "10", "--to", "5"),
        ("watch", "--from", "2999-01-01"),
        ("get", "c2", "--at", "9999999d"),
    ):
        assert (await shell(*words)).code == 2, words
    missing = await shell("rejections", "show", "9" * 25)
    assert (missing.code, "which holds the places" in missing.err) == (4, True)
    later = await shell("watch", "--from", "9" * 25, "--no-follow")
    assert (later.code, "is beyond the end of the log" in later.err) == (2, True)
    single = await shell("timeline", found.lanes[-1].id)
    assert "FROM" in single.out
    assert "excused, unknown" in single.out


async def ranges_that_cannot_be(client: Client, moment: Moment) -> None:
    with raises(InvalidInput.bad_depth, match="depth -1 is no number of levels"):
        await client.timeline("c2", depth=-1)
    now = datetime.now(UTC)
    wrong: list[tuple[When, When | None]] = [
        (moment.place, 1), (moment, 1), (now, now - timedelta(days=1)), (now + timedelta(days=1), None), ("1m", "1h"),
    ]  # fmt: skip
    for start, end in wrong:
        with raises(InvalidInput.start_after_end, match="that is earlier"):
            await client.timeline("c2", start=start, end=end)
        with raises(InvalidInput.start_after_end, match="that is earlier"):
            await client.changes(start, end)
    right: list[tuple[When, When | None]] = [(moment, moment), (moment.place, moment.place), ("0s", None)]
    for start, end in right:
        await client.changes(start, end)

"""Plans that a later owner meets: the request that deletes a finished one is late, or another owner was faster."""

from typing import Any

import pytest

from phaseline.schemas.errors import Fenced, LogDamaged
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, provision
from tests.support.log_check import stored
from tests.support.owners import Message, Plan, oversized_commit, take_over
from tests.support.raising import raises


@pytest.mark.usefixtures("small_batches")
async def test_a_late_purge_leaves_a_later_plan(
    wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(wire, await provision(wire, settings), BUILT_IN_KINDS)
    plans, log, api = [installation.subjects.plan(0, "*")], installation.layout.log, wire.api
    held: list[tuple[str, dict[str, Any] | None]] = []

    async def hold_purges(suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if not suffix.startswith("STREAM.PURGE."):
            return await api(suffix, body)
        held.append((suffix, body))
        return {}

    first = await take_over(installation, 0, "first")
    monkeypatch.setattr(wire, "api", hold_purges)
    subject = installation.subjects.transition(0, "node", "phase", "Running", "c1")
    await oversized_commit.commit(installation, first, [Message(f"{subject}.{n}", b"") for n in range(110)], 1)
    assert len(await stored(wire, log, plans)) == 1
    second = await take_over(installation, 0, "second")
    await second.append([Message(installation.subjects.plan(0, 0), b"later")], 1, Plan(2, 1, 0))
    (late,) = (one for one in held if one[0].endswith(log))  # not that of EVENTS, which ends before the commit
    await api(*late)
    assert [message.data for message in await stored(wire, log, plans)] == [b"later"]


async def test_a_plan_that_another_owner_finished_is_not_lost(wire: Wire, settings: Settings) -> None:
    installation = Installation(wire, await provision(wire, settings), BUILT_IN_KINDS)
    subjects = installation.subjects
    messages = [Message(subjects.transition(0, "node", "phase", "Running", "c1"), b"\x80")]
    (piece,) = oversized_commit.chunks(messages)
    dead = await take_over(installation, 0, "dead")
    await dead.append([Message(subjects.plan(0, 0), piece)], 0, Plan(1, 1, 0))
    slow, quick = [await take_over(installation, 0, name) for name in ("slow", "quick")]
    assert quick.checkpoint.plan is not None
    await oversized_commit.finish(installation, quick, messages)
    with pytest.raises(Fenced):
        await oversized_commit.resume(installation, slow)
    await quick.append([], 1, Plan(2, 1, 0))
    with raises(LogDamaged.plan_lost):
        await oversized_commit.resume(installation, await take_over(installation, 0, "last"))

"""A replay in shares of the partitions, one after the other in this process, and all that the command prints of it.

Belongs here: what tests of files and of servers need alike. Does not: several processes (`surfaces.cli.side_by_side`).
"""

import dataclasses
from collections.abc import Iterator

import pytest

from phaseline.engine.replay.audit import AuditReport
from phaseline.engine.replay.whatif import WhatIfReport
from phaseline.engine.surfaces.cli import render_replay, side_by_side
from phaseline.engine.surfaces.cli.output import JSON, PEOPLE, Output
from phaseline.engine.surfaces.cli.replay_task import ReplayResult, ReplayTask
from phaseline.machines.built_in import installed


async def in_shares(one: ReplayTask, count: int) -> ReplayResult:
    """What so many processes would find, one after the other in this process."""
    kinds, found, begins = one.kinds(), list[ReplayResult](), 0
    async with one.opened(kinds) as source:
        partitions = source.partitions
    for share in side_by_side.shares(partitions, count):
        part = dataclasses.replace(one, partitions=share if count > 1 else None)
        async with part.opened(kinds) as source:
            found.append(await part.fold(source, kinds, lambda _: None))
            begins = source.begins
    return one.total(found, begins)


def printed(found: ReplayResult, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    """All that the command prints, in both forms."""
    kinds = installed()
    for form in (PEOPLE, JSON):
        output = Output(form)
        if isinstance(found.outcome, AuditReport):
            render_replay.show_audit(found.outcome, output=output)
        elif isinstance(found.outcome, WhatIfReport):
            render_replay.show_difference(found.outcome, kinds, output=output)
        else:
            render_replay.show_states(found.outcome, kinds, 1, output=output)
        output.flush()
    yield from capsys.readouterr()
    yield str(found.damage)

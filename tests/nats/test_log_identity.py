"""A log has an identity, and another one from when it was put back from a backup (docs/restored.md)."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import identity
from phaseline.engine.log.identity import LogIdentity, log_identity
from phaseline.engine.log.installation import Installation
from phaseline.engine.ownership import identity_keeping
from phaseline.engine.settings import Settings
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import at_work, until_decided
from tests.support.random_events import RandomEvents, publish
from tests.support.stream_backup import backed_up, restore


async def test_an_identity_is_made_with_the_log_and_stays(wire: Wire, settings: Settings) -> None:
    settings = replace(settings, partitions=1, lease=1.0)
    async with at_work(settings, wire) as layout:
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        first = await log_identity(installation)
        assert 1.5e15 < first < 2**53
    async with at_work(settings, wire):
        assert await log_identity(installation) == first
    (note,) = await identity.all_of(installation)
    assert not note.was_restored

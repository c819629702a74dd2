"""What is said of events that are not decided yet."""

from phaseline.engine.surfaces.cli.undecided import lines
from tests.support.reading import Backlog


def test_the_words() -> None:
    assert list(lines(Backlog(0))) == []
    assert list(lines(Backlog(2))) == ["2 events are on the way; ask again in a moment, or publish with --wait"]
    [silent] = lines(Backlog(0, silent=(3,)))
    assert silent.startswith("the worker of partition 3 is loading, or does not answer")
    [moving] = lines(Backlog(1, unowned=(1, 2), workers=2))
    assert moving.startswith("no worker owns 2 partitions at the moment")
    [silent] = lines(Backlog(1, silent=(3,)))
    assert "or does not answer (events are waiting)" in silent
    [idle] = lines(Backlog(0, unowned=(1,), workers=0))
    assert "no worker is running (nothing is waiting" in idle
    [unseen] = lines(Backlog(0, unowned=(1,), workers=0, is_seen=False))
    assert "no worker is running (it cannot be seen whether events are waiting)" in unseen

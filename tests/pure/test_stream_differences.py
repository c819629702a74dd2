"""How the configuration of a stream differs from the one that is wanted: what is compared, what can be changed."""

from typing import Any

import pytest

from phaseline.engine.nats import streams
from phaseline.engine.nats.stream_settings.change import changed, check, copying, is_whole
from phaseline.engine.nats.stream_settings.differences import differences
from phaseline.engine.nats.stream_settings.fill import KEPT_BYTES, Fill
from phaseline.engine.nats.stream_settings.report import StreamReport
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options
from phaseline.schemas.errors import BadSetting, SetupError
from tests.support.raising import raises

LAYOUT = streams.layout_of(Settings(), 8)
MADE: dict[str, Any] = {
    "storage": "file",
    "num_replicas": 1,
    "max_bytes": -1,
    "max_age": 0,
    "duplicate_window": 6 * 10**11,
}
"""What the server says beside what was asked for."""


def found(**changes: Any) -> dict[str, Any]:
    """The configuration of EVENTS as a worker makes it, but for these changes."""
    return {**MADE, **streams.events_config(Settings(), LAYOUT), **changes}


def rows(config: dict[str, Any], settings: Settings, held: int = 0) -> list[tuple[str, str, str]]:
    wanted = streams.events_config(settings, LAYOUT)
    return [(one.setting, one.found, one.wanted) for one in differences("pl-EVENTS", config, wanted, held)]


def test_what_the_settings_leave_open_is_not_compared() -> None:
    odd = found(
        num_replicas=5, storage="memory", max_bytes=10**9, max_age=10**15, placement={"tags": ["x"]}, max_msgs=7
    )
    assert rows(odd, Settings()) == []


@pytest.mark.parametrize(
    ("settings", "row"),
    [
        (Settings(replicas=3), ("replicas", "1", "3")),
        (Settings(placement_tags=("ssd", "b")), ("placement", "anywhere", "tags ssd, b")),
        (Settings(placement_cluster="east"), ("placement", "anywhere", "cluster east")),
        (Settings(events_max_age=30 * 86_400.0), ("max age", "no limit", "30 d")),
        (Settings(events_max_bytes=20 * 10**9), ("max bytes", "no limit", "20.0 GB")),
        (Settings(dedupe_window=90.0), ("dedupe window", "10 m", "90 s")),
    ],
)
def test_what_the_settings_name_is_compared(settings: Settings, row: tuple[str, str, str]) -> None:
    assert rows(found(), settings) == [row]
    [one] = differences("pl-EVENTS", found(), streams.events_config(settings, LAYOUT))
    assert one.can_change
    assert differences("pl-EVENTS", changed(found(), [one]), streams.events_config(settings, LAYOUT)) == []


def test_the_same_value_is_no_difference() -> None:
    asked = Settings(replicas=1, storage="file", events_max_bytes=0, events_max_age=0.0, placement_tags=())
    assert rows(found(), asked) == []


def test_a_stream_that_would_drop_old_events_differs() -> None:
    assert rows(found(discard="old"), Settings()) == [("at the limit", "drops the oldest", "refuses")]
    limited = {**streams.log_config(Settings()), "max_age": 10**15, "max_bytes": 10**9, "max_msgs": 5}
    names = [one.setting for one in differences("pl-LOG", limited, streams.log_config(Settings()))]
    assert names == ["max bytes", "max messages", "max age"]


def test_further_subjects_and_sources_belong_to_the_operator() -> None:
    wanted = streams.events_config(Settings(), LAYOUT)
    more = {"name": "pl-EDGE", "subject_transforms": [{"src": "pl.events.*.>", "dest": "x.>"}]}
    config = found(subjects=[*wanted["subjects"], "other.>"], sources=[more, *wanted["sources"]])
    assert rows(config, Settings()) == []
    [one] = differences("pl-EVENTS", found(sources=[more]), wanted)
    assert (one.setting, one.needed, one.value) == ("sources", True, [more, *wanted["sources"]])


def test_what_cannot_be_changed_has_a_way_out() -> None:
    kept, copied = (differences(name, found(), {"storage": "memory"})[0] for name in ("pl-EVENTS", "pl-STATE"))
    assert "import it under another --prefix" in kept.way_out
    assert "nats stream rm pl-STATE" in copied.way_out
    [alone] = differences("pl-LOG", found(), {"num_replicas": 3}, clustered=False)
    assert "no member of a cluster" in alone.way_out
    [small] = differences("pl-LOG", found(), {"max_bytes": 5_000}, held=6_000)
    assert "holds 6.0 kB already" in small.way_out
    report = StreamReport("pl-LOG", 0, Fill(6_000, 0), 1, (), (small,))
    with raises(
        SetupError.stream_fixed,
        match=r"nothing was changed: max bytes of pl-LOG cannot change from no limit to 5\.0 kB",
    ):
        check([report])


def test_the_limit_of_the_log_is_kept_in_its_metadata() -> None:
    config = {**MADE, **streams.log_config(Settings()), "metadata": {"mine": "1"}}
    [one] = differences("pl-LOG", config, streams.log_config(Settings(log_max_bytes=2_000_000)))
    assert (one.setting, one.found, one.wanted) == ("max bytes", "no limit", "2.0 MB")
    now = changed(config, [one])
    assert now["metadata"] == {"mine": "1", KEPT_BYTES: "2000000"}
    info = {"config": now, "state": {"bytes": 1_700_000}}
    assert (Fill.of(info).percent, Fill.of(info).is_almost_full, Fill.of(info).is_full) == (85, True, False)


def test_a_stream_is_whole_with_a_leader_and_its_copies() -> None:
    peers = [{"name": "b", "current": True, "lag": 0}, {"name": "c", "current": False, "lag": 12}]
    info = {"config": {"num_replicas": 3}, "cluster": {"leader": "a", "replicas": peers}}
    assert not is_whole(info)
    assert copying("x", info) == ("x", 2, 3, 12)
    peers[1]["current"] = True
    assert is_whole(info)
    assert not is_whole({**info, "config": {"num_replicas": 1}})
    assert is_whole({"config": {"num_replicas": 1}})


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1500", 1_500), ("20GB", 20 * 10**9), ("1.5 MB", 1_500_000), ("4GiB", 4 << 30)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert options.SIZE.convert(text, None, None) == size


def test_a_limit_has_room_for_some_messages() -> None:
    with pytest.raises(BadSetting, match="at least 1,000,000 bytes; found 5"):
        Settings(log_max_bytes=5)

"""Settings: what is refused, and what follows from them."""

from pathlib import Path

import pytest

from phaseline.engine.errors import BadSetting
from phaseline.engine.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prefix", "a..b"),
        ("prefix", "$JS"),
        ("prefix", ""),
        ("partitions", 0),
        ("partitions", 257),
        ("replicas", 2),
        ("nats", ()),
        ("nats", ("http://x",)),
        ("storage", "paper"),
        ("lease", 0.5),
        ("tls_ca", Path("/absent")),
        ("tls_cert", Path("/absent")),
        ("dedupe_window", 0),
        ("inbox_prefix", "a.>"),
    ],
)
def test_wrong_settings_are_refused(name: str, value: object) -> None:
    with pytest.raises(BadSetting, match=name):
        Settings(**{name: value})  # type: ignore[arg-type]  # wrong on purpose


def test_stream_names_follow_from_the_prefix() -> None:
    assert Settings(prefix="a.b").stream("LOG") == "a_b-LOG"

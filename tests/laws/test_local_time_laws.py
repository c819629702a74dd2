"""Times for people: `local_time` writes what the C library does, with the milliseconds."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phaseline.engine.surfaces.cli.render import local_time

SECOND = 1_000_000_000


@given(st.integers(0, 4 * 10**18))
@example(0)
@example(59 * SECOND + 999_999_999)
@example(60 * SECOND + 1_000_000)
def test_a_local_time_is_the_one_of_the_c_library(time_ns: int) -> None:
    second, rest = divmod(time_ns, SECOND)
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
    assert local_time(time_ns) == f"{whole}.{rest // 1_000_000:03d}"


@pytest.mark.parametrize(("time_ns", "end"), [(0, ":00.000"), (9 * SECOND + 7_000_000, ":09.007")])
def test_seconds_and_milliseconds_have_their_zeros(time_ns: int, end: str) -> None:
    assert local_time(time_ns).endswith(end)

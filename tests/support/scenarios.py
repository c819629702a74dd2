"""A scenario to start from, and the message of a scenario that fails."""

from collections.abc import Callable

import pytest

from phaseline.testing import given
from tests.support.built_in_kinds import BUILT_IN_KINDS

KINDS = BUILT_IN_KINDS
RUNNING = given(KINDS).state("cluster", "c1", "Running").state("node", "c1/p/n1", "Running")


def failure(call: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)

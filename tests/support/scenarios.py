"""A scenario to start from, and the message of a scenario that fails."""

from collections.abc import Callable

import pytest

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds
from phaseline.testing import given

KINDS = Kinds(BUILT_IN)
RUNNING = given(KINDS).state("cluster", "c1", "Running").state("node", "c1/p/n1", "Running")


def failure(call: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)

"""What pytest does for classes of errors, for one error of a group.

Belongs here: `raises`. Does not: errors that have a class, which pytest takes itself.
"""

from typing import TypeVar

import pytest

from phaseline.schemas.errors import Case, PhaselineError

E = TypeVar("E", bound=PhaselineError)


def raises(error: Case[E], match: str | None = None) -> pytest.RaisesExc[E]:
    """A block that must raise this error. match: what its sentence must hold, as `pytest.raises` takes it."""
    return pytest.RaisesExc(error.group, match=match, check=error.made)

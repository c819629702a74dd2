"""The base of all errors that users see.

Belongs here: `PhaselineError`. Does not: the errors themselves (`engine.errors`; of libraries, `libraries`).
"""

import inspect
from typing import Any


class PhaselineError(Exception):
    """Phaseline cannot go on."""

    def __init__(self, **context: object) -> None:
        """`context`: the attributes of the error, which its message names."""
        super().__init__()
        vars(self).update(context)

    def __getattr__(self, name: str) -> Any:
        """Only for type checkers: the attributes are those given to the constructor."""
        raise AttributeError(f"{type(self).__name__} has no {name!r}, only {sorted(vars(self))}")

    def __str__(self) -> str:
        return inspect.cleandoc(type(self).__doc__ or "").format(**vars(self))

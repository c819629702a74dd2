"""The classes of states: what a state means to somebody who does not know its table.

Belongs here: the words, and which of several counts. Does not: the class of a state (`Label`, and what is derived from
the table: `compiler.classes`).
"""

from typing import Literal, get_args

StateClass = Literal["bad", "unknown", "busy", "excused", "good", "gone"]
"""`good`: as it should be. `busy`: on its way. `bad`: wrong. `excused`: not in use, but nothing is wrong, such as
stopped or cordoned. `gone`: its life is over. `unknown`: nobody knows."""
CLASSES: tuple[StateClass, ...] = get_args(StateClass)
"""All classes; of several, the first one counts."""

"""A product that only tests have: with it the kernel works where no product of Phaseline can be imported.

Belongs here: its ban, and the products of tests that need no other. Does not: kinds (`sample_kinds`, `timed_kinds`).
"""

from typing import Any

from phaseline.machines.language.product import Ban, Product

CARD = "4111-1111"
"""The beginning of a number that no event may hold."""


def _holds(body: bytes) -> bool:
    return CARD.encode() in body


def _inside(value: Any) -> str | None:
    return "data.card" if CARD in str(value) else None


CARDS = Ban(
    "tests.cards", 1, _holds, lambda body: "the body" if _holds(body) else None, _inside, "shows the number of a card"
)
OWN = (Product("of tests", bans=(CARDS,)),)
"""The products of `Kinds` in tests that need no other."""

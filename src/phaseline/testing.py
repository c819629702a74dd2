"""The test kit under its public name: given / when / then, and the laws of every history. See docs/testing.md."""

from typing import TYPE_CHECKING, Any

from phaseline.engine.surfaces.testing import Given, Replayed, Then, check_laws, given, replay

if TYPE_CHECKING:
    from phaseline.engine.products.notices.given_rules import GivenRules, given_rules

__all__ = ["Given", "GivenRules", "Replayed", "Then", "check_laws", "given", "given_rules", "replay"]

for _one in (Given, Replayed, Then, check_laws, given, replay):
    _one.__module__ = __name__


def __getattr__(name: str) -> Any:
    """What tests rules of notices, once it is asked for: whoever tests tables needs none of it."""
    if name not in ("GivenRules", "given_rules"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # the kit for tables does not need it
    from phaseline.engine.products.notices import given_rules as rules  # noqa: PLC0415

    found = getattr(rules, name)
    found.__module__ = __name__
    return found

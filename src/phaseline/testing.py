"""The test kit under its public name: given / when / then, and the laws of every history. See docs/testing.md."""

from phaseline.engine.testing import Given, GivenRules, Replayed, Then, check_laws, given, given_rules, replay

__all__ = ["Given", "GivenRules", "Replayed", "Then", "check_laws", "given", "given_rules", "replay"]

for _name in __all__:
    globals()[_name].__module__ = __name__

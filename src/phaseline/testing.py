"""The test kit under its public name: given / when / then, and the laws of every history. See docs/testing.md."""

from phaseline.engine.testing import Given, Replayed, Then, check_laws, given, replay

__all__ = ["Given", "Replayed", "Then", "check_laws", "given", "replay"]

for _name in __all__:
    globals()[_name].__module__ = __name__

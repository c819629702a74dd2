"""The test kit under its public name: given / when / then, and the laws of every history. See docs/testing.md."""

from phaseline.engine.testing import Given, Then, check_laws, given

__all__ = ["Given", "Then", "check_laws", "given"]

"""Phaseline: lifecycle events in, explicit state machines, committed transitions out."""

__version__ = "0.1.0"

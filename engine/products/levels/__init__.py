"""Levels of an installation: availability, outages and time in each class, from its log (docs/levels.md).

Belongs here: `reading` (a part of the log of an installation, and its archive). Does not: what
the times are (`engine.levels`), the command (`engine.cli`).
"""

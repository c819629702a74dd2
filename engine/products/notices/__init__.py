"""Rules of notices on a log (docs/notices.md).

Belongs here: `past` (a part of the log of an installation), `sending` (to receivers). Does not: what rules do
(`engine.notices`), the command (`engine.cli`).
"""

"""Lives: which thing an entity stands for, since when, and what of it lasts when another one takes its place. Pure.

Belongs here: `memory` (what an entity remembers of its lives), `beginning` (a life begins, is shown, or takes the place
of another one), `judging` (whether an event is about this life, or meant for this version), `renewal` (a new life over
a living one), `of_log` (what counts in one log only). Does not: how lives end (`machines.language.endings`), what is
reported of lives that are over (`core.after_end`).
"""

"""Levels: for how long entities were in which class, how often and how long they were bad, and what that leaves. Pure.

A level is a fold over the log: states at a beginning and records after it go in, in the order of each tree. Times are
those of the log, so the same log has the same levels, whenever and in whatever order of trees it is read.
Belongs here: `spans` (sets of times), `spared` (what of the time does not count: windows, excuses, outages of the
server), `tallies` (the times of one entity, its outages), `fold` (from records to tallies), `reckoning` (availability
and budgets of groups of tallies). Does not: reading a log
(`engine.products.levels`), the command (`products.commands`).
"""

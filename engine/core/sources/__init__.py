"""Sources: who sends events, and which of these came before.

Belongs here: `numbers` (what an entity remembers of the numbers and ids of events), `repeats` (the answer to an event
that came before). Does not: how many events which source sent (`core.counts`).
"""

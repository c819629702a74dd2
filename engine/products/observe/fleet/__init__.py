"""Fleet's own objects become events.

Belongs here: `objects` (the adapters), `lists` (what lists that are cut and exact numbers say together), `conditions`.
Does not: choosing an adapter (`observer`), counts (`kinds.fleet.counts`).
"""

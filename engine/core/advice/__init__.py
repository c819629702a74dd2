"""What a publisher can do whose event was rejected. Pure, as all of the core.

Belongs here: `legal` (the triggers that the entity would take now), `way_out` (what must happen first). Does not: why
the event was rejected (`core.rejections`), deciding events (`core.decide`).
"""

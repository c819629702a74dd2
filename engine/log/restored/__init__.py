"""A log that was put back from a backup: which log it is, and what is known from the backup only.

Belongs here: `identity` (the note that says which log this is), `unheard` (entities that nothing was heard of since).
Does not: making an identity (`worker.ownership.identity_keeping`), what it means for an event (`core.lives.of_log`).
"""

"""What of an event could be read, and what of it nothing reads. Nothing of it is dropped in silence.

Belongs here: `unread` (fields of data that nothing reads), `noting` (the records that name them). Does not: the checks
of an event (`core.intake`), which fields a trigger has (`machines.compiler.reports`).
"""

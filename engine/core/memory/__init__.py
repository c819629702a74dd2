"""What an entity remembers beside its states, to judge later events by: `reasons` (the word given for a condition).

Belongs here: reading and changing `Memory`. Does not: its shape (`schemas.records`), the rules of kinds.
"""

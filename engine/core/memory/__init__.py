"""What an entity remembers beside its states, to judge later events by. Pure.

Belongs here: reading and changing `Memory`: `reasons` (the word given for a condition), `class_stays` (since when it is
in its class). Does not: its shape (`schemas.records`), the rules of kinds.
"""

"""What an entity remembers beside its states and attributes (`Memory`), each thing in a module of its own. Pure.

Belongs here: what is noted with a change. Does not: the record that holds it (`core.transitions`).
"""

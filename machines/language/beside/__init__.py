"""The words for what an entity keeps beside its states: signals, and attributes that no table lists.

Belongs here: their bounds, what they add to a table. Does not: reading them from events (`engine.core.beside`).
"""

"""What an entity keeps beside its states: signals, and attributes that no table lists.

Belongs here: reading both from events: `signals`, `free_attributes`.
"""

"""The map of states of a table: which states it no longer has, and where entities in them go.

Belongs here: reading a map, checking it. Does not: the class of its lines (`language.retired`), moving entities
(`engine.core.tables_change`).
"""

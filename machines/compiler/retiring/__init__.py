"""The map of states: which states a table no longer has, and where their entities go.

Belongs here: reading it (`state_map`), checking it (`check_lines`). Does not: the class in which it is written
(`language.table`), moving entities (`engine.core.tables_change`).
"""

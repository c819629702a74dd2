"""What a change of tables does to the entities of a partition: who is stranded, and where a map of states moves them.

Belongs here: pure functions on a tree, and the change itself (`change`). Does not: the map
(`machines.compiler.retiring`), committing the records (`engine.ownership.tables_change`).
"""

"""What a change of tables does to entities: who is stranded, where a map of states moves them, what gets a new name.

Belongs here: pure functions on a tree (`stranded`), and the change itself (`moving`). Does not: the map
(`machines.compiler.retiring`), committing the records (`worker.ownership.tables_change`).
"""

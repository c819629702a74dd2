"""What a table no longer has: states, with where their entities go (the map of states), and names of attributes.

Belongs here: reading both, checking them. Does not: the classes in which they are written (`language.table`,
`language.fields`), moving entities (`engine.core.tables_change`).
"""

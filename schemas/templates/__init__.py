"""Bodies made from templates.

Belongs here: `transition`. Does not: the shapes that bodies have (`wire_types`), any other way to write them.
"""

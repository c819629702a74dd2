"""Records written and read by what they have in common with others.

Belongs here: bodies made from templates (`transition`), records and entities read with remembered states and facets
(`reading`), large values that many bodies hold (`shared_values`). Does not: the shapes that bodies have (`wire_types`),
any other way to write or read them.
"""

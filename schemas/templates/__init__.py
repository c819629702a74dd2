"""Records written and read by what they have in common with others.

Belongs here: bodies made from templates (`transition`), entities read with remembered facets (`entity_part`). Does not:
the shapes that bodies have (`wire_types`), any other way to write or read them.
"""

"""Everything that crosses the wire: events, records, subjects, and the bytes of each.

Belongs here: the shapes of messages, their encoding, and the grammar of subjects. Does not: the rules of kinds
(`machines`), anything that runs (`engine`). Nothing in this package imports those two.
"""

"""How the trees of an installation are divided among partitions: the note of it, and where divisions begin and end.

Belongs here: what the log says about divisions. Does not: their arithmetic (`schemas.partitions.divisions`).
"""

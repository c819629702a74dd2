"""Which partition decides which tree.

Belongs here: arithmetic of partitions, without a server. Does not: the hash of a root, which subjects need
(`schemas.subjects`).
"""

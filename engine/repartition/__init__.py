"""Changes the number of partitions of an installation while it works.

Belongs here: checking that it can be done, asking for it, waiting until workers have done it. Does not: what workers
do (`engine.worker`), how a division is noted (`engine.log.division`).
"""

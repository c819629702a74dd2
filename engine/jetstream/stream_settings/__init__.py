"""The settings of streams that exist: how they differ from what is wanted, and changing them.

Belongs here: `differences` (the comparison, a table), `fill` (how near a stream is to its limit), `report` (one stream
as it is), `change` (STREAM.UPDATE, and waiting for copies). Does not: what is wanted (`streams`).
"""

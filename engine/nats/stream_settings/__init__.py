"""The settings of streams that exist: how they differ from what is wanted, changing them, how full the streams are.

Belongs here: `differences` (the comparison, a table), `fill` (how near a stream is to its limit), `report` (one stream
as it is), `change` (STREAM.UPDATE, and waiting for copies), `stream_watch` (the looks of a
worker). Does not: what is wanted (`streams`).
"""

"""Transitions as they happen: frames that readers share, and the same from the log for who begins earlier.

Belongs here: `hub` (one frame for each filter and tick), `frames` (records as bytes), `replay` (frames from the log),
`log_places` (how many read the log at once), `seats` (how many may follow).
Does not: requests and answers (`reading.transitions`), the entities (`fleet`).
"""

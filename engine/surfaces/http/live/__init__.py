"""Transitions as they happen: frames that readers share, and the same from the log for who begins earlier.

Belongs here: `hub` (one frame for each filter and tick), `frames` (records as bytes), `replay` (frames from the log),
`log_places` (how many read the log at once). Does not: requests and answers (`reading.transitions`), how many may
follow (`http.traffic`), the entities (`fleet`).
"""

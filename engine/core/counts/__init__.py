"""What became of events, in numbers.

Belongs here: `outcomes`, and those `by_source`. Does not: how long things take (`worker.measures`), names of metrics
(`surfaces.telemetry`).
"""

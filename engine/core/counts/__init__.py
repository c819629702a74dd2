"""What became of events, in numbers.

Belongs here: `outcomes`. Does not: how long things take (`worker.measures`), names of metrics (`engine.telemetry`).
"""

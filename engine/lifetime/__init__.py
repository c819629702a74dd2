"""How long things run: the server of `phaseline up`, and work that a signal ends.

Belongs here: `supervisor` (starts an embedded server again), `stopping` (work that ends when a worker is told to stop).
Does not: starting and stopping a server (`jetstream.embedded`), running workers (`worker.system`).
"""

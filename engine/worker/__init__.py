"""The worker: decides the events of the partitions that it owns.

Belongs here: `partition` (the loop: fetch, decide, commit, go on) with `inbox` (events at hand), `deciding` (slow rules
in a thread), `commits` and `erasure` (what is banned), `lease` (which worker owns what) with `hand_over`, `worker` (one
process) with `stopping`, `services` (questions that it answers), `system` (an embedded server with workers) with
`worker_processes`, `measures` (plain numbers about all of this), `tracing` (spans of commits). Packages: `ownership`
(taking over and committing), `sites` (events of sites that lose their uplink: each counts once). `faults` are what
rules and workers failed on. Does not: rules, names of metrics (`surfaces.telemetry`).
"""

"""The worker: decides the events of the partitions that it owns.

Belongs here: `partition` (the loop: fetch, decide, commit, go on) with `inbox` (events at hand), `deciding` (slow rules
in a thread), `commits` and `erasure` (what is banned), `lease` (which worker owns what), `worker` (one process) with
`stopping`, `services` (questions that it answers), `system` (an embedded server with workers) with `worker_processes`,
`collecting` (how rarely a process collects garbage), `measures` (plain numbers about all of this), `tracing` (spans of
commits). Does not: rules, taking over and committing (`ownership`), names of metrics (`telemetry`).
"""

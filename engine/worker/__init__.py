"""The worker: owns partitions, decides their events, commits the records.

Belongs here: `partition` (the loop: fetch, decide, commit, go on), `takeover` with `former_owner` and `load_states`,
`claim` (an owned partition) with `claim_watch`, `event_loss` and `repair_timers` (what it looks after),
`fenced_commit`, `oversized_commit`, `erasure` (raw Secrets), `lease` (which worker owns what), `worker` (one process),
`system` (an embedded server with workers). Does not: rules.
"""

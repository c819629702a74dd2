"""Owning a partition: taking it over, committing under its fence, and what its owner looks after.

Belongs here: `takeover` with `former_owner`, `load_states` and `load_together`, `events_behind`, `earlier_builds` (what
these left), `claim` (an owned partition) with `event_loss` and `repair_timers` (what its owner looks after),
`identity_keeping` with `log_watch`, `tables_change`, `fenced_commit` and `oversized_commit` (the forms of a commit), in
`atomic_batches`. Does not: deciding events and the loop (`engine.worker`), which worker should own what
(`worker.lease`).
"""

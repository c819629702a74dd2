"""Reading an installation: its log, and the states of its entities now or at an earlier moment.

Belongs here: `installation` (a connection, its streams and its kinds), `log` (LOG, with what of it was archived),
`state_view` with `latest` and `as_of` (states now and at a moment), `when` (how a person names a moment), `log_records`
(single records and ranges), `watch` (records as they come), `changes` and `timeline` (what happened between two
moments), `event_order` (by the publishers' times), `checkpoint`, `table_eras`, `purge` (what was erased, and erasing
it), `foreign` (messages that no worker wrote). Packages: `explain` (why an entity is in its state, and what else is to
be known of it), `questions` (about many entities, which workers answer), `archived`, `restored`.
"""

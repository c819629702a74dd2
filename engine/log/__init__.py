"""Reading an installation: the log, the states at a moment, the events behind them.

Belongs here: `installation` (a connection, its streams and its kinds), `state_view` with `latest` and `as_of` (states now
and at a moment), `when` (how a person names a moment), `log_records`, `watch`, `changes`, `timeline`, `resolve_kind`,
`last_observation`, `checkpoint`, `table_eras`. Does not: writing, explaining, replaying.
"""

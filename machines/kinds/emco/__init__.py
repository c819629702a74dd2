"""The kinds of EMCO: `emco_resource`, `app_context`, `app_cluster` and `rsync_resource`.

Belongs here: their tables, and reading EMCO's status reports (`bundle_state`, `readiness`), what goes
`between_contexts`. Does not: health rules (`kubernetes`), EMCO's status API (the engine).
"""

"""GitOps applications as state machines: `application_set`, `application`, `resource` and `owned_object`.

Belongs here: their tables and the functions that the tables call: `observe` (observed manifests), `app_settings`,
`auto_sync` (operations), `controller`, `deletion` and `named` (what controllers report), `happenings` (Kubernetes
Events), `sync_windows` with `cron`, `waves`, `labels`. Does not: rules about manifests (`kubernetes`), publishing
observations (the engine).
"""

"""Health of one Kubernetes object by the rules of its kind.

Belongs here: `registry` (which rule applies), one module per family of kinds (`pods`, `workloads`,
`autoscaling`, `short_rules`), `general` (any other kind) with its `words` and `polarity`, `reader` and
`view` (access to a manifest), `plugins` (rules of installed packages) and `result`. Does not: rows of known kinds
(`kubernetes.known`), health scripts in Lua (`kubernetes.assess` asks a `ScriptRunner`), health of an application
(`kubernetes.rollup`).
"""

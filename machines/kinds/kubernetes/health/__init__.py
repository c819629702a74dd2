"""Health of one Kubernetes object by the rules of its kind.

Belongs here: `registry` (which rule applies), one module per family of kinds (`pods`, `workloads`, `network`,
`storage`, `autoscaling`, `argo`), `general` (any other kind) with its `words` and `polarity`, `hooks`, `reader` and
`view` (access to a manifest), `plugins` (rules of installed packages) and `result`. Does not: rows of known kinds
(`kubernetes.known`), health scripts in Lua (`kubernetes.assess` asks a `ScriptRunner`), health of an application
(`kubernetes.rollup`).
"""

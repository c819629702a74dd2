"""Health of one Kubernetes object by the rules of its kind.

Belongs here: `registry` (which rule applies), one module per family of kinds (`pods`, `workloads`, `network`,
`storage`, `autoscaling`, `apiregistration`, `argo`), `hooks`, `reader` (typed access to a manifest), `plugins` (rules
of installed packages) and `result`. Does not: health scripts in Lua (`kubernetes.assess` asks a `ScriptRunner`), health
of an application (`kubernetes.rollup`).
"""

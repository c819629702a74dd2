"""Kubernetes rules as a library: health, comparison with Git, and their roll-up, without any table or I/O.

Belongs here: `assess` (health and sync of one resource), `pairs` (which live object belongs to which declared one),
`overrides` (ignore rules, health scripts), `profiles` (how systems differ), `rollup` (many resources as one
application), reading manifests (`manifest_id`, `observation`, `durations`, `globs`, `kind_facts`), finding Secrets
whose values are not masked (`secret_values`) and `masking` the others, `health_labels`, and the packages `health`,
`known` (known kinds) and `diff`. Does not: states, rows and timers (the tables of `gitops`, `fleet` and `emco`),
running scripts (a `ScriptRunner` is passed in).
"""

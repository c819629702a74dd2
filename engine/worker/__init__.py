"""The worker: owns partitions, decides their events, commits the records.

Belongs here: `partition` (the loop: fetch, decide, commit, go on), `deciding` (how long deciding may take), `takeover`,
`fenced_commit`, `oversized_commit`, `lease` (which worker owns what), `worker` (one process), `system` (an embedded
server with workers). Does not: rules.
"""

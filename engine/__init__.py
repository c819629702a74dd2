"""The engine: the pure core that decides events, and the shell that talks to NATS.

Belongs here: one package per role. `core` decides events. `jetstream` talks to the server. `log` reads the log and the
states. `publish` stores events. `worker` owns partitions and commits batches. `replay` decides a recorded log again.
`explain` explains states. `emco_status` answers EMCO's status query. `observe` turns Kubernetes objects into events.
`scripts` runs users' scripts. `client` is the public client, `cli` the command, `http` the API, `page` the files of the
page, `testing` the public test kit. `assess` holds the functions on manifests. Does not: rules of a kind (`machines`),
the wire format (`schemas`).
"""

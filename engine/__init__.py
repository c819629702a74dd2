"""The engine: the pure core that decides events, and the shell that talks to NATS.

Belongs here: one package per role. `core` decides events. `jetstream` talks to the server, `embedded` starts one,
`accounts` says who may do what there. `log` reads the log and the states. `publish` stores events. `worker` decides the
events of its partitions, `ownership` commits what it decides, `telemetry` tells how it goes. `replay` decides a
recorded log again, `archive` keeps the past of a log in files. `explain` explains states. `observe` turns Kubernetes
objects into events, `edge` brings the events of far sites. `scripts` runs users' scripts. `client` is the public
client, `cells` reads several installations as one, `doctor` finds what is wrong. `products` holds what each product
adds beside its tables. `cli` is the command, `http` the API, `page` the files of the page, `testing` the public test
kit. `assess` holds the functions on manifests. Does not: rules of a kind (`machines`), the wire format and the errors
(`schemas`).
"""

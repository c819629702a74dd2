"""Edges: sites with a NATS server of their own, which keeps their events while the uplink is away.

Belongs here: `edge_names` (what an edge is called on NATS), `edge_streams` (the configuration of its streams),
`event_sources` (whose events EVENTS takes), `inlet_keeping`, `arrivals` and `origins` (what has come), `uplink` (how
the hub reaches them), `adding` (and removing them), `edge_state` (how each edge is), `edge_server` (the configuration
of its server). Does not: accounts (`nats.accounts`), the output of the commands (`surfaces.cli.edge`).

The path of an event: the stream at the edge, its *store*, keeps it until the hub has it. A stream of that edge at the
hub, its *inlet*, takes it from there. EVENTS takes from the inlet what is of the edge's trees.
"""

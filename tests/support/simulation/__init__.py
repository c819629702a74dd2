"""A deterministic simulation: the real code of workers and edges on a virtual server, in virtual time, by a seed.

Belongs here: `world` (virtual time and processes), `connection` (what stands for the connection to NATS), `server`,
`stream`, `pulling` and `links` (what JetStream does), `plant` (an installation and what runs in it), `troubles` (what
befalls it), `judge` (what must hold afterwards), `schedule` (one seed from its beginning to its end). Does not: the
tests, the exhaustive model of the protocol (`commit_model`). `python -m tests.support.simulation` replays a seed.
"""

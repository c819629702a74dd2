"""A NATS server of our own, for `phaseline up`, the demo and tests.

Belongs here: `server` (starting and stopping it), `server_key` (who may connect), `supervisor` (starting it again when
it dies). Does not: talking to a server (`nats`), workers.
"""

"""NATS accounts for an installation: which program may do what, as the configuration of a server.

Belongs here: `roles` (the table of roles and exports), `secret_files` (for their owner only), `keys` (nkeys in them),
`users` (roles with names), and the form `nats_conf`. Does not: connecting with these keys
(`nats.connection`).
"""

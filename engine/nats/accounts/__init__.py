"""NATS accounts for an installation: which program may do what, as the configuration of a server.

Belongs here: `roles` (the table of roles and exports), `keys` (nkeys in files), `users` (roles with names), and the
form `nats_conf`. Does not: connecting with these keys (`nats.connection`).
"""

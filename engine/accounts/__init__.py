"""NATS accounts for an installation: which program may do what, as the configuration of a server.

Belongs here: `roles` (the table of roles, exports and imports), `keys` (nkeys of users, in files), `users` (roles with
names and keys), and the forms: `nats_conf`, `page`. Does not: connecting with these keys
(`jetstream.connection`).
"""

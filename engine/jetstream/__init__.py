"""NATS and JetStream: the connection, requests, consumers, streams, and the embedded server.

Belongs here: `connection` and `frames` (the bytes of one connection), `wire` (requests and their answers), `reader` with
`consumer` (reading a stream in order), `direct_get`, `api_reply`, `micro` (NATS services), `streams` (what an installation
has), `embedded` (a server of our own), `tls`. Does not: what messages mean.
"""

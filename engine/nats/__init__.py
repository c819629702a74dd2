"""NATS and JetStream: the connection, requests, consumers, streams; a server of our own, and who may do what there.

Belongs here: `embedded` (a server of our own), `accounts` (who may do what), `connection` with `nats_library` and
`frames` (the bytes of one connection) and `connect_failures`, `wire` (requests and replies), `api_reply`, `reader` with
`consumer` and `stream_reader` (reading a stream in order), `direct_get`, `erase`, `micro` (NATS services), `streams`
(the streams of an installation, the format of its records), `stream_settings` (how existing streams differ, and
changing them).
"""

"""NATS and JetStream: the connection, requests, consumers, streams, and the embedded server.

Belongs here: `connection` and `frames` (the bytes of one connection), `wire` (requests and replies), `api_reply`,
`reader` with `consumer` and `stream_reader` (reading a stream in order), `direct_get`, `erase`,
`micro` (NATS services), `reply_subjects` (which requests are answered), `streams` (the streams of an installation),
`embedded` with `server_key` (a server of our own, and who may connect). Does not: what messages mean.
"""

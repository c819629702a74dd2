"""Publishes events: makes them, stores them, and follows them to their outcomes.

Belongs here: `compose` (an event from its parts), `single` (one event), `pipeline` (many events), `event_file` (events
in files), `outcomes` (the records that an event made), `message_id`, `snapshots` (large ones in parts), `retries`
(rejected events anew), `backlog` (events without an outcome, and who could decide them), `source_counts`; notes in the
log: `operations`, `server_outages`.
"""

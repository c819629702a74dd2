"""The fleet in memory: every entity of an installation, exact at a place of the log, and what follows it.

Belongs here: `fleet` (the entities, in columns), `state_index` (states as numbers), `cascades` (records of one event
belong together), `fleet_moment` (one moment of the fleet, for reads that take a while), `columns` (many
entities at once), `follower` (loads the fleet, and follows the log), `history` (what happened
before), `history_loader`. Does not: requests and answers (`surfaces.http`).
"""

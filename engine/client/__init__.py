"""The Python client of an installation.

Belongs here: `client` (connecting, publishing, reading), `session`, `entity_view` (states at a moment), `ranges`
(between two moments), `products` with `fleet_counts` and `fleet_placement`, `selection` and `maps` (which entities are
shown, and how, as JSON); the client without asyncio: `sync_client`, which mirrors these on `portal`, and its types
(`sync_stub`).
Does not: the work behind a method (`engine.log`, `engine.publish`, `engine.explain`, `engine.replay`).
"""

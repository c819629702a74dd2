"""The Python client of an installation.

Belongs here: `client` (publishing, on top of `reading_client`), `connecting` with `nats_context` (named connections),
`session`, `entity_view` (states at a moment), `ranges` (between two moments), `dwelling` (watching by class),
`surroundings` (what others tell), `rejection_counts`, `numbered_source`, `product_views` (what products add),
`selection` and `maps` (which entities are shown, and how, as JSON); the client without asyncio: `sync_client`, which
mirrors these on `portal`. Does not: the work behind a method (`engine.log`, `engine.publish`, `log.explain`,
`engine.replay`).
"""

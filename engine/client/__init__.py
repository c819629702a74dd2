"""The Python client of an installation.

Belongs here: `client` (connecting), `session`, `publish` and `read` (its methods), `entity_view` (states at a moment),
`fleet_counts` and `fleet_placement`. Does not: the work behind a method (`log`, `publish`, `explain`, `replay`).
"""

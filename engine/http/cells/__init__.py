"""Several installations behind one server of HTTP.

| module | holds |
|---|---|
| `cells_app` | which application answers a request |
| `cells_routes` | the requests about all cells |
| `cells_service` | a service for each cell |
| `all_entities` | lists and counts over all cells |
| `cells_page` | the page of all cells |
| `all_transitions` | what happens in all cells |

Belongs here: what takes in several cells. Does not: requests about one cell, which its own application answers
(`engine.http.app`).
"""

"""Several installations behind one server of HTTP.

| module | holds |
|---|---|
| `cells_routes` | the requests about all cells, and which application answers a request |
| `cells_service` | a service for each cell |
| `cells_about` | the cells themselves |
| `all_transitions` | what happens in all cells |

Belongs here: what only a server of several cells has. Does not: entities and the page, which `http.reading`
answers for one and for several; requests about one cell, which its own application answers (`http.app`).
"""

"""The connections of clients: what they may take of the server, and how many there are.

| module | holds |
|---|---|
| `guard` | the limits, and who gives way |
| `guarded_protocol` | one connection within these limits |
| `accepting` | the lobby: connections before they take a place |
| `clients` | how many connections there are, and what was refused |

Does not: what a request is answered with (`http.app`).
"""

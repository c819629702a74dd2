"""Fleet's counts (docs/fleet.md).

Belongs here: `counts`, `views` (in the client), `routes` (by HTTP). Does not: the tables of Fleet (`kinds.fleet`).
"""

"""The tables: each kind's states, rows, guards, views, cascades and labels.

Belongs here: `language` (the words of a table), `compiler` (checks and lookup), `docs` (pages and schemas from tables), the
tables of each product (`edge`, `emco`, `gitops`, `fleet`), the rules for Kubernetes objects (`kubernetes`), and the list of
all built-in kinds (`built_in`). Does not: committing, I/O.
"""

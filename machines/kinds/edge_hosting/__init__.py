"""The kinds of edge hosting: `cluster`, `node_pool`, `node` and `component`.

Belongs here: their tables, and what their `requests` have in common.
"""

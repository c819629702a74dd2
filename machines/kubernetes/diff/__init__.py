"""Comparison of a live object with the one declared in Git.

Belongs here: `compare` (the whole comparison) and its steps: `ignore` (ignore rules), `normalize` (server-owned
fields), `canonical` (one spelling per value), `merge` with `merge_schema` (what an apply would do), `defaults` (what
the API server adds), `differences` (paths that differ), `managed_fields`, `builtin_kinds`, `known_types`. Does not:
health, Argo CD's annotations (`kubernetes.assess`).
"""

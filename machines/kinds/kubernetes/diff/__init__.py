"""Comparison of a live object with the one declared in Git.

Belongs here: `compare` (the whole comparison) and its steps: `ignore` (ignore rules), `versions` (one object in two
versions), `normalize` (server-owned fields), `holds` (the quick look), `canonical` (one spelling per value), `merge`
(what an apply would do), `defaults` (what the API server adds), `differences` (paths that differ); `types` (what a
field holds, from `types.json`) with `schemas`, `known_types` (of custom kinds), `managed_fields`. Does not: health,
Argo CD's annotations (`kubernetes.assess`).
"""

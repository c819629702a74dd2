"""From tables to what the core looks up, and the checks that refuse a table that cannot work.

Belongs here: `checks` (one table), `reachability` (one facet), `check_kinds` (tables together), `machine` (the interpreter
of one facet), `conditions`, `kinds` (all kinds of an installation), `fingerprint` (versions), `labels`.
Does not: any kind, any product.
"""

"""Compiles tables: checks that they can work, and turns them into the objects that the core asks.

Belongs here: `shapes` (the sorts of values), `checks` (one table), `reachability` (one facet), `check_kinds` (tables
together), `machine` (one facet compiled: its steps, and the view that shows), `conditions` (the state after a step or
under a view), `kinds` (all kinds of an installation, and the steps that a trigger takes), `relations` (how kinds depend
on each other), `completion` and `reports` (what the language adds), `judging` (one report), `retiring` (states that a
table lost), `classes` (what a state means), `short_ways`, `fingerprint` (versions), `labels`, `library_machine` (the
library transitions), `packages` (what installed packages bring). Does not: any kind or product, deciding events
(`engine.core`), the phrases of pages (`machines.docs`).
"""

"""The words that a table is written in. Its public name is `phaseline.tables`.

Belongs here: `table` (rows, views, cascades, facets, tables), `sources` (where a row starts), `predicates` (guards),
`fields` (data and attributes), `rules` (names and revisions of rules in code), `scripts` (how a rule runs a script).
Does not: any kind, any product, checking or running a table (`compiler`).
"""

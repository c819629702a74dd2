"""The table language: the classes in which a kind is written. Its public name is `phaseline.tables`.

Belongs here: `table` (tables, facets, rows, views, cascades, timeouts), `sources` (where a row starts), `predicates`
(conditions of guards and views), `fields` (data and attributes, free ones too), `endings` (how a life ended),
`deadlines`, `brake` (on snapshots), `signals` and `contact` (what they add to a table), `rules` (names and revisions of
functions), `language_tags`, `scripts` (how a rule runs a user's script), `product` (what a package adds). Does not: any
kind or product; checking, compiling or running a table (`machines.compiler`).
"""

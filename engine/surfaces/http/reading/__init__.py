"""Answers to what is read.

Belongs here: one module for each group of routes, with a handler for each route: `entities`, `transitions`, `past`,
`rejections`, `installation`, `about`, and what each installation says that is asked (`parts`). Does not: the table of
routes (`http.routes`), what changes something.
"""

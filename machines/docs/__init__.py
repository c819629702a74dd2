"""Pages, diagrams and schemas made from tables.

Belongs here: `printing`, `markdown`, `mermaid`, `plain` (tables as text and data), `wording` (one phrase for each part
of a table), `layout` (where a diagram's boxes and arrows stand), `json_schema`, `messages`, `asyncapi`, `known_kinds`,
`triggers`, `pages` (the file that each of them writes), and `written_parts` (generated parts of other files). Does not:
pages written by hand (`docs/`).
"""

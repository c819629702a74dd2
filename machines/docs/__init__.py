"""Pages, diagrams and schemas made from tables.

Belongs here: `wording`, `printing`, `markdown`, `mermaid`, `plain` (tables as text and data), `layout` (where a
diagram's boxes and arrows stand), `json_schema`, `messages`, `asyncapi`, and `pages` (the file that each of them
writes). Does not: pages written by hand (`docs/`).
"""

"""The tables of all kinds, the language in which they are written, and what is made from them.

Belongs here: `language` (the classes of a table), `compiler` (checks, and the objects that the core asks), `docs`
(pages and schemas made from tables), the tables and rules of each product (`kinds`), and the list of the products
(`built_in`).
"""

"""The commands of `phaseline` that are about a product: one module for each.

Belongs here: their options and layout. The command finds them by the names in its table of sections, so it imports
none of them. Does not: what several commands print (`surfaces.cli`), the work behind a command.
"""

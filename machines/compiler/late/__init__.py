"""What the compiler loads when somebody needs it, because most processes only read states.

Belongs here: `tables` (those of a tree), `library_machine` (the library transitions). Does not: what is done with
either (`kinds`, `machine`).
"""

"""What installed packages bring: their products, and the libraries that rules need.

Belongs here: finding products and setting broken ones apart (`broken_kinds`), loading libraries before events are
decided (`libraries`). Does not: checking a table (`checks`), the built-in products (`built_in`).
"""

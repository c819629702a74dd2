"""Cells: several installations, each with a log of its own, that are read as one.

Belongs here: naming them, asking all of them, following all of them. Does not: reading one installation
(`surfaces.client`), how commands and HTTP show what was read.
"""

"""Cells: several installations, each with a log of its own, that are read as one.

Belongs here: naming and asking all of them (`cells`), following all of them (`merging`), where a watch of them stands
(`places`), one and several behind one interface (`reading`). Does not: reading one installation (`surfaces.client`),
how commands and HTTP show what was read.
"""

"""Levels of an installation: availability, outages and time in each class, from its log (docs/levels.md).

Belongs here: `reading` (a part of the log of an installation, and its archive), `excuses` (notes in the log), `views`
(in the client), `routes` (by HTTP). Does not: what the times are (`levels.fold`), the command (`products.commands`).
"""

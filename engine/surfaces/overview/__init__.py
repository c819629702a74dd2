"""The overview: what is bad now, since when and because of what, for somebody who looks in the morning.

Belongs here: making it of entities (`overview`), what explains what (`explaining`), who has been in a class for long
enough (`dwells`), and watching that (`dwell_watch`). Does not: reading the entities (`client.entity_view`), how it
looks (`cli.overview`, the page).
"""

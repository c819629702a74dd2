"""Explains why an entity is in its state, back to the events from outside.

Belongs here: `model` (the explanation), `explainer` (the views), `causes` (the records behind a base), `fetch` (reading
the states and histories that these need). `explainer` and `causes` are pure. Does not: showing an explanation to
people.
"""

"""Why an entity is in its state: back to the events from outside.

Belongs here: `model` (the answer), `explainer` and `causes` (finding it, pure), `fetch` (reading what they ask for).
Does not: printing it.
"""

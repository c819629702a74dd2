"""Explains why an entity is in its state, back to the events from outside, and what its state does not say.

Belongs here: `model` (the explanation) and `telling` (it in words), `explainer` (the views), `causes` (the records
behind a base), `fetch` (reading the states and histories that these need), `way_out` (of a rejection). Beside it:
`staleness` (who has been silent), `shut` (what stands above), `unknown_parts` (what is lacking), `identities` (one
thing at two places), `said` and `refused` (what was said of it). `explainer` and `causes` are pure.
"""

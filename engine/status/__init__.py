"""The status query on an EMCO resource: what became of what was deployed (docs/spec/emco.md, The status query). Pure.

Belongs here: reading a question, choosing what it is about, the two shapes of the answer. Does not: where the tree comes
from, messages (`phaseline.engine.statuses`, `phaseline.engine.service`).
"""

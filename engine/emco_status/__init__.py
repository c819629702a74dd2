"""The status query on an EMCO resource (docs/spec/emco.md, The status query).

Belongs here: `query` (reading a question), `select` (what it is about), `design_shape` and `emco_shape` (the two shapes of
the answer), `schema`, `load` (from the streams), `server` (the NATS service of each worker), `request` (asking it).
Does not: the tables of EMCO.
"""

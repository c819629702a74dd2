"""The status query on EMCO resources (docs/spec/emco.md, The status query).

Belongs here: `query` (the parameters), `select` (the resources that a query is about), `design_shape` and `emco_shape`
(the two shapes of an answer), `schema` (their JSON Schemas), `load` (whole answers), `views` (in the client), `routes`
(by HTTP). Does not: the tables of EMCO (`kinds.emco`), the service of workers (`worker.services`).
"""

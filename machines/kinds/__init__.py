"""The tables of the kinds that come with Phaseline, one package for each product, and their pure rules.

Belongs here: a table (`kinds.edge_hosting`, `kinds.emco`, `kinds.gitops`, `kinds.fleet`, `kinds.notices`), the rules
for Kubernetes objects (`kinds.kubernetes`). Does not: the language of tables (`machines.language`), what a product adds
beside its tables (`engine.products`), the list of all kinds (`built_in`).
"""

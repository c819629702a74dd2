"""Kubernetes objects and Git (docs/gitops.md).

Belongs here: `last_observation`, `views` (in the client). Does not: the rules
(`machines.kubernetes`), the tables (`machines.gitops`), observing (`engine.observe`).
"""

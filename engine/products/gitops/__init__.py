"""Kubernetes objects and Git (docs/gitops.md).

Belongs here: `last_observation`, `views` (in the client), `assess` (the public functions on manifests). Does not: the
rules (`kinds.kubernetes`), the tables (`kinds.gitops`), observing (`products.observe`).
"""

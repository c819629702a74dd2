"""Rancher Fleet as state machines: the kinds `git_repo`, `bundle`, `bundle_deployment` and `bundle_resource`.

Belongs here: their tables, and Fleet's counters (`counts`). Does not: rules about manifests (`kubernetes`).
"""

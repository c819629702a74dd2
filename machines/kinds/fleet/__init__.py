"""Rancher Fleet as state machines: the kinds `git_repo`, `bundle`, `bundle_deployment` and `bundle_resource`.

Belongs here: their tables, and Fleet's counters (`counts`), the rules of `deployment_rules`, `rollout` and `commits`,
and `advice`. Does not: rules about manifests (`kubernetes`).
"""

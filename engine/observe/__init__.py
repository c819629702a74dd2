"""From Kubernetes objects to lifecycle events, for clusters that have no agent of their own.

Belongs here: `observer` (which event an object makes, each change once), `events`, `generic`, `argo` and `fleet` (what each
sort of object says), `stream` and `manifest_files` (objects from files), `cluster`, `discovery` and `kubernetes_api`
(objects from an API server). Does not: sending events, judging health.
"""

"""Turns Kubernetes objects into lifecycle events, for clusters that have no agent of their own.

Belongs here: `observer` (one event for each real change), `events` (the form of an observed event), `ownership` (whose
an object is), `owned` and `placing` (below which other object it stands), `happenings` (Kubernetes Events), `argo`,
`fleet` and `generic` (the adapters for each sort of object), `snapshots`, `roots`, `stream` and `manifest_files`
(objects from pipes and files), `bridge`, `cluster`, `discovery` and `kubernetes_api` (objects from an API server).
"""

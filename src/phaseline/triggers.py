"""The triggers of kinds as names: `publish(*cluster.create, "c1")`. Editors complete them, type checkers know them.

Belongs here: the kinds that come with Phaseline. Does not: other kinds, of which `phaseline kinds show KIND --format
python` prints such a module. Written by `python -m phaseline.engine.surfaces.generate` from their tables.
"""

from typing import NamedTuple


class Trigger(NamedTuple):
    """A kind and one of its triggers, which are the first arguments of `publish`, `publish_and_wait`, `dry_run`."""

    kind: str
    trigger: str


__all__ = [
    "Trigger",
    "app_cluster",
    "app_context",
    "application",
    "application_set",
    "bundle",
    "bundle_deployment",
    "bundle_resource",
    "cluster",
    "component",
    "emco_resource",
    "git_repo",
    "node",
    "node_pool",
    "owned_object",
    "resource",
    "rsync_resource",
]


class app_cluster:
    """Ids are <resource>/<context>/<app>/<cluster>."""

    # requests
    configure = Trigger("app_cluster", "configure")

    # observations
    bundle_state = Trigger("app_cluster", "bundle_state")
    connected = Trigger("app_cluster", "connected")
    disconnected = Trigger("app_cluster", "disconnected")
    heartbeat = Trigger("app_cluster", "heartbeat")
    reported = Trigger("app_cluster", "reported")
    snapshot = Trigger("app_cluster", "snapshot")


class app_context:
    """Ids are <resource>/<context>."""

    # requests
    configure = Trigger("app_context", "configure")
    create = Trigger("app_context", "create")
    instantiate = Trigger("app_context", "instantiate")
    resume = Trigger("app_context", "resume")
    stop = Trigger("app_context", "stop")
    terminate = Trigger("app_context", "terminate")
    update = Trigger("app_context", "update")
    update_from = Trigger("app_context", "update_from")

    # observations
    adopt = Trigger("app_context", "adopt")
    heartbeat = Trigger("app_context", "heartbeat")
    instantiation_stopped = Trigger("app_context", "instantiation_stopped")
    reported = Trigger("app_context", "reported")
    snapshot = Trigger("app_context", "snapshot")


class application:
    """Ids are <set>/<application>."""

    # requests
    configure = Trigger("application", "configure")
    sync = Trigger("application", "sync")

    # observations
    heartbeat = Trigger("application", "heartbeat")
    named = Trigger("application", "named")
    observed = Trigger("application", "observed")
    removed = Trigger("application", "removed")
    reported = Trigger("application", "reported")
    snapshot = Trigger("application", "snapshot")
    stepped = Trigger("application", "stepped")
    sync_finished = Trigger("application", "sync_finished")


class application_set:
    """Ids are <set>."""

    # requests
    configure = Trigger("application_set", "configure")

    # observations
    heartbeat = Trigger("application_set", "heartbeat")
    removed = Trigger("application_set", "removed")
    reported = Trigger("application_set", "reported")
    snapshot = Trigger("application_set", "snapshot")


class bundle:
    """Ids are <repo>/<bundle>."""

    # requests
    configure = Trigger("bundle", "configure")

    # observations
    created = Trigger("bundle", "created")
    failed = Trigger("bundle", "failed")
    heartbeat = Trigger("bundle", "heartbeat")
    recovered = Trigger("bundle", "recovered")
    removed = Trigger("bundle", "removed")
    reported = Trigger("bundle", "reported")
    rollout = Trigger("bundle", "rollout")
    snapshot = Trigger("bundle", "snapshot")


class bundle_deployment:
    """Ids are <repo>/<bundle>/<cluster>."""

    # observations
    applied = Trigger("bundle_deployment", "applied")
    apply_failed = Trigger("bundle_deployment", "apply_failed")
    checked_in = Trigger("bundle_deployment", "checked_in")
    configure = Trigger("bundle_deployment", "configure")
    heartbeat = Trigger("bundle_deployment", "heartbeat")
    observed = Trigger("bundle_deployment", "observed")
    removed = Trigger("bundle_deployment", "removed")
    reported = Trigger("bundle_deployment", "reported")
    snapshot = Trigger("bundle_deployment", "snapshot")
    staged = Trigger("bundle_deployment", "staged")
    target = Trigger("bundle_deployment", "target")


class bundle_resource:
    """Ids are <repo>/<bundle>/<cluster>/<kind>/<namespace>/<name>."""

    # requests
    configure = Trigger("bundle_resource", "configure")

    # observations
    counted = Trigger("bundle_resource", "counted")
    declared = Trigger("bundle_resource", "declared")
    deleted = Trigger("bundle_resource", "deleted")
    heartbeat = Trigger("bundle_resource", "heartbeat")
    missing = Trigger("bundle_resource", "missing")
    modified = Trigger("bundle_resource", "modified")
    not_owned = Trigger("bundle_resource", "not_owned")
    not_ready = Trigger("bundle_resource", "not_ready")
    observed = Trigger("bundle_resource", "observed")
    orphaned = Trigger("bundle_resource", "orphaned")
    ready = Trigger("bundle_resource", "ready")
    reported = Trigger("bundle_resource", "reported")
    undeclared = Trigger("bundle_resource", "undeclared")
    unknown = Trigger("bundle_resource", "unknown")


class cluster:
    """Ids are <cluster>."""

    # requests
    configure = Trigger("cluster", "configure")
    create = Trigger("cluster", "create")
    delete = Trigger("cluster", "delete")
    update = Trigger("cluster", "update")

    # observations
    adopt = Trigger("cluster", "adopt")
    cleanup_failed = Trigger("cluster", "cleanup_failed")
    condition = Trigger("cluster", "condition")
    create_failed = Trigger("cluster", "create_failed")
    created = Trigger("cluster", "created")
    deleted = Trigger("cluster", "deleted")
    error = Trigger("cluster", "error")
    heartbeat = Trigger("cluster", "heartbeat")
    overdue = Trigger("cluster", "overdue")
    recovered = Trigger("cluster", "recovered")
    renewed = Trigger("cluster", "renewed")
    reported = Trigger("cluster", "reported")
    snapshot = Trigger("cluster", "snapshot")
    started = Trigger("cluster", "started")
    updated = Trigger("cluster", "updated")


class component:
    """Ids are <cluster>/<component>."""

    # requests
    configure = Trigger("component", "configure")
    create = Trigger("component", "create")
    delete = Trigger("component", "delete")
    update = Trigger("component", "update")

    # observations
    adopt = Trigger("component", "adopt")
    cleanup_failed = Trigger("component", "cleanup_failed")
    condition = Trigger("component", "condition")
    crash_loop = Trigger("component", "crash_loop")
    created = Trigger("component", "created")
    degraded = Trigger("component", "degraded")
    deleted = Trigger("component", "deleted")
    error = Trigger("component", "error")
    heartbeat = Trigger("component", "heartbeat")
    image_pull_failed = Trigger("component", "image_pull_failed")
    name_conflict = Trigger("component", "name_conflict")
    recovered = Trigger("component", "recovered")
    reported = Trigger("component", "reported")
    scheduling_failed = Trigger("component", "scheduling_failed")
    updated = Trigger("component", "updated")


class emco_resource:
    """Ids are <resource>."""

    # requests
    apply = Trigger("emco_resource", "apply")
    approve = Trigger("emco_resource", "approve")
    configure = Trigger("emco_resource", "configure")
    create = Trigger("emco_resource", "create")
    delete = Trigger("emco_resource", "delete")
    instantiate = Trigger("emco_resource", "instantiate")
    rollback = Trigger("emco_resource", "rollback")
    stop = Trigger("emco_resource", "stop")
    terminate = Trigger("emco_resource", "terminate")
    update = Trigger("emco_resource", "update")

    # observations
    adopt = Trigger("emco_resource", "adopt")
    heartbeat = Trigger("emco_resource", "heartbeat")
    reported = Trigger("emco_resource", "reported")
    snapshot = Trigger("emco_resource", "snapshot")


class git_repo:
    """Ids are <repo>."""

    # requests
    configure = Trigger("git_repo", "configure")

    # observations
    created = Trigger("git_repo", "created")
    failed = Trigger("git_repo", "failed")
    fetch_failed = Trigger("git_repo", "fetch_failed")
    fetched = Trigger("git_repo", "fetched")
    heartbeat = Trigger("git_repo", "heartbeat")
    recovered = Trigger("git_repo", "recovered")
    removed = Trigger("git_repo", "removed")
    reported = Trigger("git_repo", "reported")
    snapshot = Trigger("git_repo", "snapshot")


class node:
    """Ids are <cluster>/<pool>/<node>."""

    # requests
    configure = Trigger("node", "configure")
    cordon = Trigger("node", "cordon")
    create = Trigger("node", "create")
    delete = Trigger("node", "delete")
    drain = Trigger("node", "drain")
    start = Trigger("node", "start")
    stop = Trigger("node", "stop")
    uncordon = Trigger("node", "uncordon")
    update = Trigger("node", "update")

    # observations
    adopt = Trigger("node", "adopt")
    cleanup_failed = Trigger("node", "cleanup_failed")
    condition = Trigger("node", "condition")
    created = Trigger("node", "created")
    deleted = Trigger("node", "deleted")
    error = Trigger("node", "error")
    heartbeat = Trigger("node", "heartbeat")
    init_failed = Trigger("node", "init_failed")
    not_ready = Trigger("node", "not_ready")
    overdue = Trigger("node", "overdue")
    ready = Trigger("node", "ready")
    recovered = Trigger("node", "recovered")
    renewed = Trigger("node", "renewed")
    reported = Trigger("node", "reported")
    started = Trigger("node", "started")
    stopped = Trigger("node", "stopped")
    updated = Trigger("node", "updated")


class node_pool:
    """Ids are <cluster>/<pool>."""

    # requests
    configure = Trigger("node_pool", "configure")
    create = Trigger("node_pool", "create")
    delete = Trigger("node_pool", "delete")
    scale = Trigger("node_pool", "scale")
    update = Trigger("node_pool", "update")

    # observations
    adopt = Trigger("node_pool", "adopt")
    cleanup_failed = Trigger("node_pool", "cleanup_failed")
    condition = Trigger("node_pool", "condition")
    created = Trigger("node_pool", "created")
    deleted = Trigger("node_pool", "deleted")
    error = Trigger("node_pool", "error")
    heartbeat = Trigger("node_pool", "heartbeat")
    recovered = Trigger("node_pool", "recovered")
    reported = Trigger("node_pool", "reported")
    scaled = Trigger("node_pool", "scaled")
    snapshot = Trigger("node_pool", "snapshot")
    updated = Trigger("node_pool", "updated")


class owned_object:
    """Ids are <set>/<application>/<kind>/<namespace>/<name>/<owned>."""

    # requests
    configure = Trigger("owned_object", "configure")

    # observations
    events_seen = Trigger("owned_object", "events_seen")
    heartbeat = Trigger("owned_object", "heartbeat")
    observed = Trigger("owned_object", "observed")
    removed = Trigger("owned_object", "removed")
    reported = Trigger("owned_object", "reported")


class resource:
    """Ids are <set>/<application>/<kind>/<namespace>/<name>."""

    # requests
    configure = Trigger("resource", "configure")

    # observations
    events_seen = Trigger("resource", "events_seen")
    heartbeat = Trigger("resource", "heartbeat")
    named = Trigger("resource", "named")
    observed = Trigger("resource", "observed")
    owns = Trigger("resource", "owns")
    removed = Trigger("resource", "removed")
    reported = Trigger("resource", "reported")
    snapshot = Trigger("resource", "snapshot")
    sync_failed = Trigger("resource", "sync_failed")
    sync_started = Trigger("resource", "sync_started")
    sync_succeeded = Trigger("resource", "sync_succeeded")


class rsync_resource:
    """Ids are <resource>/<context>/<app>/<cluster>/<name>."""

    # requests
    add = Trigger("rsync_resource", "add")
    configure = Trigger("rsync_resource", "configure")

    # observations
    applied = Trigger("rsync_resource", "applied")
    deleted = Trigger("rsync_resource", "deleted")
    failed = Trigger("rsync_resource", "failed")
    heartbeat = Trigger("rsync_resource", "heartbeat")
    reported = Trigger("rsync_resource", "reported")
    retrying = Trigger("rsync_resource", "retrying")
    terminated = Trigger("rsync_resource", "terminated")

"""The table of all metrics: name, type, labels, meaning. What is not in it cannot be exposed.

Belongs here: the words, and the bounds of cardinality. Does not: values (`readings`), buckets (`worker.measures`).
A label never holds the id of an entity, unless an operator asks for it (`--metrics-entities`).
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from phaseline.engine.worker.measures import Distribution

Type = Literal["counter", "gauge", "histogram"]
Value = float | Distribution
Values = Mapping[str, Mapping[tuple[str, ...], Value]]
"""By metric, its values by the values of its labels."""


class Metric(NamedTuple):
    """One metric. by: who exposes it; `worker`, `serve`, both of them, or `notify`."""

    name: str
    type: Type
    labels: tuple[str, ...]
    meaning: str
    by: str = "worker"


# fmt: off
METRICS: tuple[Metric, ...] = (
    # what became of the events
    Metric("phaseline_events_total", "counter", ("kind", "outcome"),
           "Events that were decided, by outcome: `transitions`, `rejected`, `partly` (a snapshot, some items of "
           "which were left out), `unchanged`, `repeat` (or a timer that was over), `fault` (a rule failed)."),
    Metric("phaseline_transitions_total", "counter", ("kind", "facet", "state"),
           "Transitions, by the state that they led to."),
    Metric("phaseline_event_transitions", "histogram", (),
           "Transitions that one event led to, of the events that led to any: 1, or those of a cascade."),
    Metric("phaseline_rejections_total", "counter", ("kind", "reason"),
           "Rejected events. The kind is `-` where no such kind is installed."),
    Metric("phaseline_entities", "gauge", ("kind", "facet", "state"),
           "Entities in the partitions that this worker owns. A state that was left stays, with 0."),
    Metric("phaseline_entities_stalled", "gauge", ("kind", "facet", "state"),
           "Those of them whose operation was not answered in time. A state that was left stays, with 0."),
    Metric("phaseline_entities_by_class", "gauge", ("kind", "class", "age"),
           "Entities that are not gone, by the worst class of their states and by how long they have been in that "
           "class, whatever states they had meanwhile: `0`, `1m`, `10m`, `1h` or `1d` and more, each counted once. As "
           "of the last pass over all entities, some seconds ago."),
    Metric("phaseline_entity_state", "gauge", ("kind", "id", "facet", "state"),
           "1 for the state of each entity of the kind that `--metrics-entities` names, at most 1,000 entities."),
    Metric("phaseline_metrics_entities_dropped", "gauge", ("kind",),
           "Entities of that kind beyond the 1,000."),
    Metric("phaseline_timers", "gauge", ("kind",),
           "Timers that are set, in the partitions that this worker owns. A kind that had timers stays, with 0."),
    Metric("phaseline_timers_fired_total", "counter", ("kind",),
           "Timers that fired and were not over."),
    Metric("phaseline_timers_late_seconds_total", "counter", ("kind",),
           "How late these were, together: from when they were due until the server stored them."),
    # how fast
    Metric("phaseline_event_delay_seconds", "histogram", (),
           "From when the server stored an event until its outcome was committed. Compares the clock of the server "
           "with that of the worker."),
    Metric("phaseline_commit_seconds", "histogram", (),
           "From when a commit was sent until it was stored for certain."),
    Metric("phaseline_commit_messages", "histogram", (),
           "Messages of a commit, without its checkpoint."),
    Metric("phaseline_commit_failures_total", "counter", ("reason",),
           "Tries of commits without success: `unanswered` (the worker then finds out what became of it), `full` (the"
           " server has no room), `refused`."),
    # partitions
    Metric("phaseline_partitions", "gauge", (),
           "Partitions of the installation."),
    Metric("phaseline_partition_owned", "gauge", ("partition",),
           "1 if this worker owns the partition and has loaded it, otherwise 0. The sum over all workers should be 1."),
    Metric("phaseline_partition_epoch", "gauge", ("partition",),
           "How often the partition was taken over. Only from its owner, as the next two."),
    Metric("phaseline_partition_lag_events", "gauge", ("partition",),
           "Events that are stored and have no committed outcome."),
    Metric("phaseline_partition_oldest_seconds", "gauge", ("partition",),
           "Age of the oldest of these that has reached the worker; 0 if there is none."),
    Metric("phaseline_takeovers_total", "counter", ("former",),
           "Partitions taken over, by what had become of the former owner: `first` (there was none), `living` (shares"
           " moved), `ended`."),
    Metric("phaseline_takeover_seconds", "histogram", (),
           "From the lease until the states were loaded."),
    Metric("phaseline_partition_losses_total", "counter", ("reason",),
           "Partitions that this worker lost, or gave up after an error: `fenced`, `lease` (it expired), `tables`, "
           "`stuck`, `log_emptied`, `events_behind`, `unreadable`, `faults`, `failed`, `broken`."),
    Metric("phaseline_edge_events_dropped_total", "counter", ("edge",),
           "Events of an edge that the server took for repeats, because it had just seen their `Nats-Msg-Id`, and did "
           "not store. They were never decided."),
    Metric("phaseline_lease_renewal_seconds", "histogram", (),
           "How long the server took to renew this worker's lease. Near `--lease`, partitions are lost."),
    Metric("phaseline_questions_total", "counter", ("outcome",),
           "Questions about many entities, such as those of `list --class bad` and `overview`, one for each partition"
           " and page: `answered`, `refused` (the asker reads STATE), `failed`."),
    # the connection
    Metric("phaseline_nats_connected", "gauge", (),
           "1 if the connection to NATS is up.", "both"),
    Metric("phaseline_nats_reconnects_total", "counter", (),
           "How often the connection came back.", "both"),
    Metric("phaseline_nats_pending_bytes", "gauge", (),
           "Bytes that wait to be written to the connection.", "both"),
    # publishers
    Metric("phaseline_source_events_total", "counter", ("source", "outcome"),
           "Events of a source, by outcome: `taken`, `rejected`, `repeat`. Only for the first 500 sources since this "
           "worker started, and up to 500 more of which an event was refused."),
    Metric("phaseline_source_first_timestamp_seconds", "gauge", ("source",),
           "When the server stored the first event of a source that is counted here."),
    Metric("phaseline_source_last_timestamp_seconds", "gauge", ("source",),
           "When the server stored the last event of a source."),
    Metric("phaseline_metrics_sources_dropped_total", "counter", (),
           "Events of the sources beyond these."),
    # streams, from the owner of the first partition only
    Metric("phaseline_stream_messages", "gauge", ("stream",),
           "Messages in a stream. Only from the owner of the first partition, as the other metrics of streams."),
    Metric("phaseline_stream_bytes", "gauge", ("stream",),
           "Bytes of a stream."),
    Metric("phaseline_stream_limit_bytes", "gauge", ("stream",),
           "The most bytes that a stream may hold; absent if it has no limit."),
    Metric("phaseline_stream_first_timestamp_seconds", "gauge", ("stream",),
           "When its first message was stored: how far back a replay can go. Absent if it is empty."),
    Metric("phaseline_stream_last_sequence", "gauge", ("stream",),
           "The sequence of its last message. Of LOG, the place."),
    Metric("phaseline_stream_replicas", "gauge", ("stream",),
           "Copies that the stream should have."),
    Metric("phaseline_stream_replicas_current", "gauge", ("stream",),
           "Copies that are up to date, the leader's included."),
    # the HTTP server
    Metric("phaseline_http_requests_total", "counter", ("method", "route", "code"),
           "Requests, by route as docs/http.md writes it; `-` if there is none.", "serve"),
    Metric("phaseline_http_request_seconds", "histogram", (),
           "From a request until its answer begins.", "serve"),
    Metric("phaseline_http_connections", "gauge", (),
           "Connections of clients that are open.", "serve"),
    Metric("phaseline_http_refused_total", "counter", ("reason",),
           "What clients were refused that take too much (docs/http.md#what-a-client-may-take): `head_late`, "
           "`body_late`, `head_large`, `url_long`, `body_large`, `bodies_large`, `malformed`, `not_read`, "
           "`evicted`, `full`, `no_handles`, `streams`.", "serve"),
    Metric("phaseline_watchers", "gauge", (),
           "Readers that follow transitions.", "serve"),
    Metric("phaseline_resyncs_total", "counter", (),
           "How often such a reader was too slow, and had to read the states again.", "serve"),
    Metric("phaseline_log_place", "gauge", (),
           "The place of the log that the server has reached.", "serve"),
    Metric("phaseline_fleet_entities", "gauge", (),
           "Entities that the server holds in memory.", "serve"),
    # notices on their way
    Metric("phaseline_deliveries_total", "counter", ("receiver", "type", "outcome"),
           "Messages to receivers of notices, by what came of the try: `sent`, `failed` (it is tried again), "
           "`given_up`, `repeated` (open alerts, sent to an Alertmanager once more).", "notify"),
    Metric("phaseline_receiver_failing_seconds", "gauge", ("receiver", "type"),
           "For how long all tries of this process to reach a receiver have failed; 0 if the last one did not.",
           "notify"),
    # who runs
    Metric("phaseline_build_info", "gauge", ("version",),
           "1: the version that runs.", "both"),
    Metric("phaseline_table_info", "gauge", ("kind", "version"),
           "1: the version of each kind's table. Two versions of a kind at once are two builds.", "both"),
)
# fmt: on
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
MOST_ENTITIES = 1_000
"""The most entities that have series of their own."""

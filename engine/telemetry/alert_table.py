"""The table of alerts: what is wrong, how that is measured, and what to do.

Belongs here: rules for Prometheus as a table. Does not: the file that Prometheus reads (`monitoring_files`), the page
(`page`), the metrics themselves (`metric_table`).
"""

from typing import Literal, NamedTuple

BY = "namespace, job"
"""The labels of an installation: scrapes of one installation share a job, and in Kubernetes a namespace."""


class Alert(NamedTuple):
    """One alert. wait: how long the expression must hold. severity: whether it wakes somebody (`page`).

    summary: one line, with labels of the result in braces. means, do: the line of the runbook.
    """

    name: str
    wait: str
    severity: Literal["page", "ticket"]
    expr: str
    summary: str
    means: str
    do: str


# fmt: off
ALERTS: tuple[Alert, ...] = (
    Alert("PhaselineDown", "2m", "page",
          "absent(phaseline_partition_owned)",
          "No worker of Phaseline is scraped",
          "No worker runs and knows its partitions, or Prometheus does not reach it. Events are kept, nothing is "
          "decided.",
          "Look whether worker processes run and what `/readyz?verbose` says; then `phaseline doctor`. If they "
          "run, look at Prometheus' targets."),
    Alert("PhaselineNatsAway", "2m", "page",
          "phaseline_nats_connected == 0",
          "A process of Phaseline has no connection to NATS",
          "The process waits and comes back by itself. If all of them are concerned, NATS is away.",
          "`phaseline doctor` names the cause: the server, the network, the certificate, the user."),
    Alert("PhaselinePartitionOrphaned", "1m", "page",
          f"sum by ({BY}, partition) (phaseline_partition_owned) == 0",
          "Nobody decides partition {partition}",
          "Workers run, but none has loaded this partition: it is refused, broken, or being loaded for long.",
          "Read the workers' logs for `partition_refused` (other tables), `log_emptied`, `partition_unreadable`, "
          "`partition_broken` with this partition."),
    Alert("PhaselinePartitionOwnedTwice", "2m", "ticket",
          f"sum by ({BY}, partition) (phaseline_partition_owned) > 1",
          "Two workers hold partition {partition}",
          "Nothing is wrong in the log: only one of them can commit. One of them does not notice that it has "
          "lost.",
          "Look at both workers' connections to NATS and their leases (`phaseline_lease_renewal_seconds`); start "
          "the one with the lower `phaseline_partition_epoch` anew."),
    Alert("PhaselineEventsLate", "2m", "page",
          f"max by ({BY}, partition) (phaseline_partition_oldest_seconds) > 30",
          "Events of partition {partition} wait for more than 30 s",
          "The partition has an owner, but it does not get on: too many events, slow rules, or commits that fail.",
          "Compare `phaseline_partition_lag_events` and the rate of `phaseline_events_total`. Rising on all "
          "partitions: add workers. On one: look for `slow_decision`, `commit_in_doubt`, `server_full` in its "
          "owner's log."),
    Alert("PhaselineDelayHigh", "10m", "ticket",
          f"histogram_quantile(0.99, sum by ({BY}, le) (rate(phaseline_event_delay_seconds_bucket[5m]))) > 5",
          "One event in a hundred waits for more than 5 s",
          "Workers or the server are near their limit, or partitions change hands often.",
          "Look at the CPU of workers (one core each is their limit) and of the server, and at "
          "`phaseline_takeovers_total`."),
    Alert("PhaselineCommitsFailing", "5m", "page",
          f"sum by ({BY}, reason) (rate(phaseline_commit_failures_total[5m])) > 0.1",
          "Commits fail: {reason}",
          "NATS does not answer commits in time (`unanswered`), has no room (`full`), or refuses them. What was "
          "committed is safe, events wait.",
          "`full`: make room (docs/operating.md, A full disk). Otherwise look at the server's log and its disk, "
          "and whether its streams have a leader."),
    Alert("PhaselineLosesPartitions", "0m", "ticket",
          f"sum by ({BY}, reason) (increase(phaseline_partition_losses_total[15m])) > 5",
          "Workers lose partitions: {reason}",
          "Each time, events of the partition wait until the next owner has loaded it.",
          "`lease`, `fenced`: workers or NATS are too slow for `--lease`; give them more CPU, or a longer lease. "
          "Others: the log line of the same name (docs/operating.md, Log events)."),
    Alert("PhaselineLeaseSlow", "10m", "ticket",
          f"histogram_quantile(0.99, sum by ({BY}, le) (rate(phaseline_lease_renewal_seconds_bucket[10m]))) > 0.5",
          "Leases take more than 0.5 s to be renewed",
          "Near the time of `--lease` (2 s unless set), workers lose partitions although nothing is wrong.",
          "Look at the load of NATS and of the workers; give LEASE a fast disk, or set a longer `--lease`."),
    Alert("PhaselineFaults", "0m", "ticket",
          f'sum by ({BY}, kind) (increase(phaseline_rejections_total{{reason="fault"}}[15m])) > 0',
          "A rule of {kind} failed on events",
          "A rule raised an error, which is a bug. These events are rejected as faults and not tried again.",
          "`phaseline rejections --reason fault` names events and errors; `event_parked` in the log has the rule."
          " Mend the rule, then send them again with `phaseline rejections retry --reason fault`."),
    Alert("PhaselineRejectionsJump", "10m", "ticket",
          f"sum by ({BY}) (rate(phaseline_rejections_total[10m])) > 0.1 and sum by ({BY}) "
          f"(rate(phaseline_rejections_total[10m])) > 5 * quantile_over_time(0.5, sum by ({BY}) "
          "(rate(phaseline_rejections_total[10m]))[1d:10m])",
          "Five times as many events are rejected as usual",
          "A publisher changed or sends its events in another order, or a program sends events that it should not "
          "send.",
          "`phaseline rejections` counts them by reason, kind and source."),
    Alert("PhaselineTablesDiffer", "15m", "ticket",
          f"count by ({BY}, kind) (count by ({BY}, kind, version) (phaseline_table_info)) > 1",
          "Two versions of the table of {kind} run",
          "An upgrade is not finished: workers of one version refuse partitions of the other.",
          "Finish the upgrade (docs/operating.md, Changing a table)."),
    Alert("PhaselineStreamNearLimit", "10m", "page",
          "phaseline_stream_bytes / phaseline_stream_limit_bytes > 0.8",
          "The stream {stream} has reached 80 % of its limit",
          "At the limit nothing more is stored there, and nothing is dropped: events are refused, or wait to be "
          "decided.",
          "Raise the limit with `phaseline streams`, or make room with `phaseline archive`."),
    Alert("PhaselineReplicasBehind", "5m", "page",
          "phaseline_stream_replicas_current < phaseline_stream_replicas",
          "Copies of the stream {stream} are not up to date",
          "One more server that fails may stop writes, or cost data.",
          "Look whether all servers of the cluster run and reach each other."),
    Alert("PhaselineReplayHorizonShrinks", "0m", "ticket",
          'time() - phaseline_stream_first_timestamp_seconds{stream=~".+-LOG"} < 604800 and '
          'delta(phaseline_stream_first_timestamp_seconds{stream=~".+-LOG"}[1h]) > 0',
          "The log was trimmed to less than a week",
          "Somebody purged LOG, or it has a limit. Earlier moments cannot be read any more.",
          "Find out who did. LOG should be kept, or be archived before."),
    Alert("PhaselineSourceSilent", "5m", "ticket",
          f"time() - max by ({BY}, source) (phaseline_source_last_timestamp_seconds) > 3600 < 86400",
          "Nothing was heard from {source} for an hour",
          "An agent may have died. A source that is meant to end is listed too; after a day it is left out.",
          "Look after the agent. For places, `--silence-after` says it exactly, and by place (docs/silence.md)."),
    Alert("PhaselinePlacesSilent", "5m", "ticket",
          f'sum by ({BY}, kind) (phaseline_entities{{facet="contact", state="Silent"}}) > 0',
          "The reporters of some {kind} entities are silent",
          "What is shown below these places may be old.",
          "`phaseline list --state Silent` names them; look after their agents."),
    Alert("PhaselineWatchersResyncing", "10m", "ticket",
          f"sum by ({BY}) (rate(phaseline_resyncs_total[10m])) > 0.1",
          "Readers of the HTTP server cannot keep up",
          "They read the states again each time, which costs more than following.",
          "Look at their networks; let them follow less (`kind`, `tree`, `form=columns`)."),
)
# fmt: on

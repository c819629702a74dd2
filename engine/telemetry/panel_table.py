"""The table of dashboards: what Grafana draws of the metrics.

Belongs here: titles, units and queries. Does not: the files (`monitoring_files`), alerts (`alert_table`).
"""

from typing import Literal, NamedTuple

OF = 'namespace=~"$namespace", job=~"$job"'
"""What all queries select by. In a Prometheus without namespaces the label is empty, which `.*` matches."""


class PanelQuery(NamedTuple):
    """One query, and how its lines are called."""

    expr: str
    legend: str = ""


class Panel(NamedTuple):
    """One picture. unit: as Grafana names it. description: what to look for."""

    title: str
    unit: str
    description: str
    queries: tuple[PanelQuery, ...]
    type: Literal["timeseries", "stat"] = "timeseries"


class Dashboard(NamedTuple):
    """One page of Grafana."""

    uid: str
    title: str
    panels: tuple[Panel, ...]


def quantile(share: float, name: str) -> PanelQuery:
    """A quantile of a histogram without labels of its own."""
    rate = f"rate({name}_bucket{{{OF}}}[$__rate_interval])"
    return PanelQuery(f"histogram_quantile({share}, sum by (le) ({rate}))", f"{share:.0%} are below")


def per_second(name: str, *by: str, where: str = "") -> PanelQuery:
    """The rate of a counter, by labels."""
    selected = f"{OF}, {where}" if where else OF
    return PanelQuery(
        f"sum by ({', '.join(by)}) (rate({name}{{{selected}}}[$__rate_interval]))",
        " ".join(f"{{{{{label}}}}}" for label in by),
    )


# fmt: off
DASHBOARDS: tuple[Dashboard, ...] = (
    Dashboard("phaseline-operation", "Phaseline: operation", (
        Panel("Partitions with an owner", "short", "Should equal the number of partitions.", (
            PanelQuery(f"sum(phaseline_partition_owned{{{OF}}})", "owned"),
            PanelQuery(f"max(phaseline_partitions{{{OF}}})", "all"),
        ), "stat"),
        Panel("Oldest undecided event", "s", "Seconds per partition. Rising means that it does not get on.", (
            PanelQuery(f"max by (partition) (phaseline_partition_oldest_seconds{{{OF}}})", "{{partition}}"),
        )),
        Panel("Undecided events", "short", "By partition.", (
            PanelQuery(f"sum by (partition) (phaseline_partition_lag_events{{{OF}}})", "{{partition}}"),
        )),
        Panel("Delay from stored to committed", "s", "What publishers wait for.", (
            quantile(0.5, "phaseline_event_delay_seconds"), quantile(0.99, "phaseline_event_delay_seconds"),
        )),
        Panel("Events per second", "ops", "By outcome.", (
            per_second("phaseline_events_total", "outcome"),
        )),
        Panel("Transitions of one event", "short", "Large cascades take long, and make large commits.", (
            quantile(0.5, "phaseline_event_transitions"), quantile(0.99, "phaseline_event_transitions"),
        )),
        Panel("Commits", "s", "Until a commit is stored for certain.", (
            quantile(0.5, "phaseline_commit_seconds"), quantile(0.99, "phaseline_commit_seconds"),
        )),
        Panel("Failed tries of commits", "ops", "By reason. What was committed is safe.", (
            per_second("phaseline_commit_failures_total", "reason"),
        )),
        Panel("Take-overs and losses of partitions", "ops", "Each costs a pause of the partition.", (
            per_second("phaseline_takeovers_total", "former"), per_second("phaseline_partition_losses_total", "reason"),
        )),
        Panel("Renewal of leases", "s", "Near --lease, partitions are lost.", (
            quantile(0.99, "phaseline_lease_renewal_seconds"),
        )),
        Panel("Connections to NATS", "short", "By process: 1 is up.", (
            PanelQuery(f"min by (instance) (phaseline_nats_connected{{{OF}}})", "{{instance}}"),
        )),
        Panel("Bytes of streams", "bytes", "How they grow.", (
            PanelQuery(f"max by (stream) (phaseline_stream_bytes{{{OF}}})", "{{stream}}"),
        )),
        Panel("Messages of streams", "short", "How they grow.", (
            PanelQuery(f"max by (stream) (phaseline_stream_messages{{{OF}}})", "{{stream}}"),
        )),
        Panel("CPU of processes", "percentunit", "A worker process can use one core.", (
            PanelQuery(f"rate(process_cpu_seconds_total{{{OF}}}[$__rate_interval])", "{{instance}}"),
        )),
        Panel("Memory of processes", "bytes", "It grows with the number of entities.", (
            PanelQuery(f"process_resident_memory_bytes{{{OF}}}", "{{instance}}"),
        )),
        Panel("Versions of tables that differ", "short", "Should be 0: kinds of which two versions run.", (
            PanelQuery(
                f"count(count by (kind) (count by (kind, version) (phaseline_table_info{{{OF}}})) > 1) or vector(0)",
                "kinds",
            ),
        ), "stat"),
    )),
    Dashboard("phaseline-fleet", "Phaseline: fleet", (
        Panel("Entities by kind", "short", "Those that are not deleted.", (
            PanelQuery("max by (kind) (sum by (kind, facet)"
                  f' (phaseline_entities{{{OF}, facet!="contact", state!="Deleted"}}))', "{{kind}}"),
        )),
        Panel("Entities by state", "short", "One with several facets has several states.", (
            PanelQuery(f'sum by (state) (phaseline_entities{{{OF}, facet!="contact", state!="Deleted"}})', "{{state}}"),
        )),
        Panel("Failed or degraded", "short", "Entities by kind.", (
            PanelQuery(f'sum by (kind) (phaseline_entities{{{OF}, state=~"Failed|Degraded"}})', "{{kind}}"),
        )),
        Panel("Transitions per second", "ops", "By kind.", (
            per_second("phaseline_transitions_total", "kind"),
        )),
        Panel("Transitions to Failed or Degraded", "ops", "By kind.", (
            per_second("phaseline_transitions_total", "kind", where='state=~"Failed|Degraded"'),
        )),
        Panel("Rejected events per second", "ops", "By reason.", (
            per_second("phaseline_rejections_total", "reason"),
        )),
        Panel("Silent places", "short", "Their reporters were not heard lately.", (
            PanelQuery(f'sum by (kind) (phaseline_entities{{{OF}, facet="contact", state="Silent"}})', "{{kind}}"),
        )),
        Panel("Sources not heard for the longest time", "s", "The ten that were silent longest.", (
            PanelQuery("topk(10, time() - max by (source)"
                  f" (phaseline_source_last_timestamp_seconds{{{OF}}}))", "{{source}}"),
        )),
        Panel("Timers that are set", "short", "By kind.", (
            PanelQuery(f"sum by (kind) (phaseline_timers{{{OF}}})", "{{kind}}"),
        )),
        Panel("Timers that fired", "ops", "By kind.", (
            per_second("phaseline_timers_fired_total", "kind"),
        )),
        Panel("Requests by HTTP", "reqps", "By route.", (
            per_second("phaseline_http_requests_total", "route"),
        )),
        Panel("Time until an answer begins", "s", "Of the HTTP server.", (
            quantile(0.5, "phaseline_http_request_seconds"), quantile(0.99, "phaseline_http_request_seconds"),
        )),
        Panel("Readers that follow transitions", "short", "Of the HTTP server.", (
            PanelQuery(f"sum(phaseline_watchers{{{OF}}})", "readers"),
        )),
    )),
)
# fmt: on

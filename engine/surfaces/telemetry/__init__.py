"""Telemetry: metrics of workers and servers, and probes, for Prometheus and Kubernetes.

Belongs here: `metric_table` (every metric: its name, type, labels and meaning), `readings` (what values it has in a
worker, at this moment, and how the streams grow) with `class_readings` (how many entities are in which class),
`exposition` (the text that Prometheus reads),
`checks` (whether a worker is alive and ready), `listening` (sockets, for `phaseline serve` too), `endpoint` (answering
requests beside the event loop), `exposing` (a worker's endpoint as a whole), `page` (docs/metrics.md).
Does not: alerts and dashboards (deploy/monitoring), counting while a worker works (`worker.measures`,
`core.process`), requests of `phaseline serve` (`http`).
"""

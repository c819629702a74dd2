"""The text that Prometheus reads, made by the library prometheus-client. The only importer of `prometheus_client`.

Belongs here: from values to bytes. Does not: which values there are (`readings`), sending (`endpoint`).
"""

import gzip
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from phaseline.engine.surfaces.telemetry.metric_table import METRICS, Metric, Values
from phaseline.engine.worker.measures import Distribution
from phaseline.schemas import libraries

with libraries.needed("prometheus_client", "metrics"):
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
    from prometheus_client.exposition import choose_encoder, gzip_accepted
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import Collector


class ScrapeAnswer(NamedTuple):
    """An answer to a scrape."""

    headers: dict[str, str]
    body: bytes


class _Collected(Collector):
    """Hands out values that were read before."""

    def __init__(self, values: Values) -> None:
        """The values of one moment."""
        self._values = values

    def collect(self) -> Iterator[Family]:
        """The values, in the order of the table."""
        return (_family(metric, self._values) for metric in METRICS if self._values.get(metric.name))


def exposed(values: Values, accept: str = "", accept_encoding: str = "") -> ScrapeAnswer:
    """The values in the format that a request asks for, with those of the process. accept: from its headers."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(values))
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(accept)
    body = encode(registry)
    headers = {"Content-Type": content_type}
    if gzip_accepted(accept_encoding):
        body = gzip.compress(body, 1, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return ScrapeAnswer(headers, body)


def _family(metric: Metric, values: Values) -> Family:
    if metric.type == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels)
        for labels, value in values[metric.name].items():
            if not isinstance(value, Distribution):
                raise TypeError(f"{metric.name} is a histogram, but its value is {value!r}")
            histogram.add_metric(labels, _buckets(value), value.total)
        return histogram
    family = (CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily)(
        metric.name, metric.meaning, labels=metric.labels
    )
    for labels, value in values[metric.name].items():
        if isinstance(value, Distribution):
            raise TypeError(f"{metric.name} is no histogram, but its value is one")
        family.add_metric(labels, value)
    return family


def _buckets(found: Distribution) -> list[tuple[str, float]]:
    """The counts as Prometheus wants them: each bucket holds those before it too."""
    bounds = [f"{bound:g}" for bound in found.bounds]
    return list(zip([*bounds, "+Inf"], map(float, accumulate(found.counts)), strict=True))

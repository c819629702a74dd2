"""The tables of docs/metrics.md, made from the table of metrics and from the rules for Prometheus.

Belongs here: that part of the page. Does not: the rest of the page, which people write.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

import msgspec.yaml

from phaseline.engine.surfaces.telemetry.metric_table import METRICS
from phaseline.machines.docs.written_parts import keep_part

PAGE = Path("docs/metrics.md")
RULES = Path("deploy/monitoring/rules.yaml")
COMMAND = "python3 dev.py generate"
BEGIN = f"<!-- Written by `{COMMAND}` from surfaces/telemetry and deploy/monitoring/rules.yaml, up to the end. -->"
WIDTH = 120
"""Columns of a line."""


def reference() -> str:
    """All metrics, then what to do about each alert."""
    return "\n".join([BEGIN, "", *_metrics(), *_runbook()])


def _metrics() -> Iterator[str]:
    yield from ("## All metrics", "", "| metric | type | labels | meaning | from |", "|---|---|---|---|---|")
    for one in METRICS:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        yield f"| `{one.name}` | {one.type} | {labels} | {one.meaning} | {one.by} |"
    yield ""


def _runbook() -> Iterator[str]:
    yield from ("## Alerts", "", "A `page` wakes somebody; a `ticket` can wait for the morning.", "")
    [group] = msgspec.yaml.decode(RULES.read_bytes())["groups"]
    for rule in group["rules"]:
        text = f"({rule['labels']['severity']}, after {rule['for']}) {rule['annotations']['description']}"
        lines = wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
        yield from (f"### {rule['alert']}", "", *lines, "", "```text", rule["expr"], "```", "")


def renewed(page: str) -> str:
    """The page with the present tables."""
    return page.partition(BEGIN)[0] + reference()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the tables; 1 if `--check` finds them stale."""
    return keep_part(arguments, COMMAND, PAGE, renewed)

"""The table of docs/metrics.md, made from the table of metrics.

Belongs here: that part of the page. Does not: the rest of the page, which people write.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from phaseline.engine.telemetry.metric_table import METRICS
from phaseline.machines.docs.written_part import keep

PAGE = Path("docs/metrics.md")
COMMAND = "python3 dev.py generate"
BEGIN = f"<!-- Written by `{COMMAND}` from engine/telemetry, up to the end of the page. -->"


def reference() -> str:
    """All metrics."""
    return "\n".join([BEGIN, "", *_metrics()])


def _metrics() -> Iterator[str]:
    yield from ("## All metrics", "", "| metric | type | labels | meaning | from |", "|---|---|---|---|---|")
    for one in METRICS:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        yield f"| `{one.name}` | {one.type} | {labels} | {one.meaning} | {one.by} |"
    yield ""


def wanted(page: str) -> str:
    """The page with the present tables."""
    return page.partition(BEGIN)[0] + reference()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the tables; 1 if `--check` finds them stale."""
    return keep(arguments, COMMAND, PAGE, wanted)

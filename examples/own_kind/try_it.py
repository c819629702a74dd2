"""Decides a few events about a release without a server. Run it where `acme-kinds` is installed."""

import json

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines import built_in
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.subjects import Subjects
from phaseline.tables import NoScripts, label_of

EVENTS = ("create", "start", "approve", "start", "checks_failed", "timed_out", "checks_passed", "resumed", "finished")


def main() -> None:
    """Print each event with the records that it leads to."""
    installed = built_in.installed()
    print("kinds:", ", ".join(installed))
    tree, facets = Tree(installed, NoScripts()), {facet.name: facet for facet in installed["release"].table.facets}
    for sequence, trigger in enumerate(EVENTS, 1):
        body = {"specversion": "1.0", "id": str(sequence), "source": "/ci", "type": f"release.{trigger}"}
        subject = f"pl.inbox.0.v2.release.{trigger}"
        arrival = intake.read(installed, Subjects("pl"), subject, json.dumps(body).encode(), sequence, sequence * 10**9)
        for record in [arrival] if isinstance(arrival, Rejection) else decide(tree, arrival).records:
            evolve(tree, record)
            if isinstance(record, Transition):
                label = label_of(facets[record.facet], record.after)
                print(f"{trigger}: {record.facet} {record.before or 'unknown'} -> {record.after} ({label})")
            elif isinstance(record, Rejection):
                print(f"{trigger}: rejected, {record.message}")


if __name__ == "__main__":
    main()

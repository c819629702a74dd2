"""Invented kinds with timers: one that cascades, one below it, one that rings again and again.

Belongs here: the tables. Does not: the tests (`test_testing_time`, `test_kit_and_worker`).
"""

from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    SAME,
    AttributeIs,
    Attributes,
    Cascade,
    Facet,
    Field,
    Label,
    Row,
    RuleEvent,
    Table,
    Timeout,
    rule,
)


def label(phase: str, condition: str = OK) -> Label:
    return Label(phase, condition, phase)


JOB = Table(
    kind="job",
    id=("job",),
    intents=("start", "finish", "check", "drop"),
    derived=("give_up", "lose"),
    facets=(
        Facet(
            name="phase",
            labels=(label("Running"), label("Stuck"), label("Lost"), label("Checking"), label("Done")),
            rows=(
                Row((ABSENT,), "start", "Running"),
                Row(("Running",), "give_up", "Stuck"),
                Row(("Running", "Stuck"), "finish", "Done"),
                Row(("Stuck",), "check", "Checking"),
                Row(("Checking",), "lose", "Lost"),
                Row((LIVE,), "drop", DELETED),
            ),
            timeouts=(Timeout("Running", "give_up", seconds=600), Timeout("Checking", "lose", seconds=60)),
        ),
    ),
    cascades=(Cascade("lose", at=("task",), into="Stuck"),),
)
TASK = Table(
    kind="task",
    id=("job", "task"),
    parent="job",
    intents=("start", "drop"),
    derived=("lose",),
    facets=(
        Facet(
            name="phase",
            labels=(label("Running"), label("Gone")),
            rows=(
                Row((ABSENT,), "start", "Running"),
                Row(("Running",), "lose", "Gone"),
                Row((LIVE,), "drop", DELETED),
            ),
        ),
    ),
)


@rule("tests.rung", revision=1)
def rung(attributes: Attributes, event: RuleEvent) -> Attributes:
    return {**attributes, "rings": attributes["rings"] + 1}


PROBE = Table(
    kind="probe",
    id=("probe",),
    intents=("start", "stop"),
    derived=("ring",),
    attributes=(
        Field("first", float, "seconds to the first ring"),
        Field("again", float, "seconds to each further ring"),
        Field("quiet", bool, "whether it may not ring", default=False),
        Field("rings", int, "how often it rang", default=0),
    ),
    facets=(
        Facet(
            name="phase",
            labels=(label("On"),),
            rows=(
                Row((ABSENT,), "start", "On", assigns=True),
                Row(("On",), "ring", SAME, when=(AttributeIs("probe", "quiet", False),), computes=rung),
                Row(("On",), "stop", DELETED),
            ),
            timeouts=(Timeout("On", "ring", seconds_from="first", repeat_after="again"),),
        ),
    ),
)

KINDS = (JOB, TASK, PROBE)

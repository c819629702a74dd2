"""The kind `rack`: its states, and which trigger leads from where to where.

`help(phaseline.tables.Row)` explains each column. `phaseline kinds show rack` prints this table.
"""

from phaseline.tables import ABSENT, DELETED, OK, PROGRESSING, Facet, Field, Label, Row, Table, Timeout

CREATING, RUNNING, FAILED, DELETING = "Creating", "Running", "Failed", "Deleting"
PATIENCE = 600
"""The seconds after which creating counts as failed."""

# fmt: off
PHASE = Facet(
    name="phase",
    labels=(
        #     phase     condition    in English
        Label(CREATING, PROGRESSING, "Creating"),
        Label(RUNNING,  OK,          "Running"),
        Label(FAILED,   "Error",     "Failed"),
        Label(FAILED,   "TimedOut",  "Timed out"),
        Label(DELETING, PROGRESSING, "Deleting"),
    ),
    rows=(
        #   from                         trigger      to
        Row((ABSENT, DELETED),           "create",    CREATING, assigns=True),
        Row((CREATING, FAILED),          "created",   RUNNING),
        Row((CREATING, RUNNING),         "failed",    FAILED, condition="Error"),
        Row((CREATING,),                 "timed_out", FAILED, condition="TimedOut"),
        Row((FAILED,),                   "retry",     CREATING),
        Row((CREATING, RUNNING, FAILED), "delete",    DELETING),
        Row((DELETING,),                 "deleted",   DELETED),
    ),
    timeouts=(Timeout(CREATING, "timed_out", seconds=PATIENCE),),
    pending=(CREATING, DELETING),
)
# fmt: on

RACK = Table(
    kind="rack",
    id=("rack",),
    doc="What a rack is, in a sentence.",
    intents=("create", "retry", "delete"),
    derived=("timed_out",),
    attributes=(Field("owner", str, "who answers for it"),),
    facets=(PHASE,),
)

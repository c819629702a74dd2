"""Jobs of an installed package before and after a change of their tables, in which some of them have to move.

Belongs here: `BEFORE` and `AFTER`, in words that all versions have. Does not: recording logs with them (`record_logs`),
tests of such changes (`changed_jobs`).
This file is a package by itself when `record_logs` installs it beside another version, so it imports the table language
and nothing else.
"""

from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    PROGRESSING,
    AnyBelow,
    Facet,
    Label,
    Retired,
    Row,
    State,
    Table,
    Timeout,
    View,
)

# fmt: off
QUEUE = Table(
    kind="queue", id=("queue",), intents=("open", "close"),
    facets=(
        Facet(
            name="phase",
            labels=(Label("Open", OK, "Open"), Label("Working", PROGRESSING, "Working"), Label("Closed", OK, "Closed")),
            rows=(Row((ABSENT, DELETED), "open", "Open"), Row(("Open",), "close", "Closed"), Row((LIVE,), "gone", DELETED)),
            views=(View("Working", (AnyBelow("queue", "task", ("Running",)),), base=("Open",)),),
            adopted=State("Open", (OK,)),
        ),
    ),
)
BEFORE = (
    QUEUE,
    Table(
        kind="task", id=("queue", "task"), parent="queue", intents=("create", "pause"), derived=("retry",),
        facets=(
            Facet(
                name="phase",
                labels=(
                    Label("Pending", OK, "Waiting"), Label("Running", OK, "Running"), Label("Paused", OK, "Paused"),
                    Label("Retrying", PROGRESSING, "Waiting to retry"), Label("Done", OK, "Done"),
                ),
                rows=(
                    Row((ABSENT, DELETED), "create", "Pending"), Row(("Pending",), "started", "Running"),
                    Row(("Running",), "finished", "Done"), Row(("Running",), "lost", "Retrying"),
                    Row(("Retrying",), "retry", "Pending"), Row(("Pending",), "pause", "Paused"),
                    Row((LIVE,), "gone", DELETED),
                ),
                timeouts=(Timeout("Retrying", "retry", seconds=3600),),
                adopted=State("Pending", (OK,)),
            ),
        ),
    ),
)
"""Tasks may be Paused and Retrying."""
AFTER = (
    QUEUE,
    Table(
        kind="task", id=("queue", "task"), parent="queue", intents=("create",), derived=("expire",),
        facets=(
            Facet(
                name="phase",
                labels=(
                    Label("Pending", OK, "Waiting"), Label("Running", OK, "Running"), Label("Held", OK, "Held"),
                    Label("Done", OK, "Done"), Label("Expired", "TooLate", "Too late"),
                ),
                rows=(
                    Row((ABSENT, DELETED), "create", "Pending"), Row(("Pending", "Held"), "started", "Running"),
                    Row(("Running",), "finished", "Done"), Row(("Pending",), "expire", "Expired", condition="TooLate"),
                    Row(("Pending",), "held", "Held"),
                    Row((LIVE,), "gone", DELETED),
                ),
                timeouts=(Timeout("Pending", "expire", seconds=1),),
                retired=(Retired("Retrying", to="Pending"), Retired("Paused", to="Held")),
                adopted=State("Pending", (OK,)),
            ),
        ),
    ),
)
"""What was Paused is Held, what was Retrying waits again, and what waits for a second is too late."""
# fmt: on

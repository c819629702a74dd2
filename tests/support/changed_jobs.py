"""Backup jobs below a policy, by three tables that follow each other: states go, and entities in them have to move.

Belongs here: the tables. Does not: the tests that change from one to the next.
"""

from collections.abc import Sequence

from phaseline.tables import (
    ABSENT,
    DELETED,
    LIVE,
    OK,
    PROGRESSING,
    AnyBelow,
    Facet,
    Kinds,
    Label,
    Retired,
    Row,
    State,
    Table,
    Timeout,
    View,
)
from tests.support.own_product import OWN

# fmt: off
PENDING, RUNNING = Label("Pending", OK, "Waiting"), Label("Running", OK, "Backing up")
RETRYING, PAUSED = Label("Retrying", PROGRESSING, "Waiting to retry"), Label("Paused", OK, "Paused")
DONE = Label("Done", OK, "Done")
GAVE_UP, CANCELLED = Label("Failed", "GaveUp", "Gave up"), Label("Failed", "Cancelled", "Cancelled")
CREATE, START = Row((ABSENT, DELETED), "create", "Pending"), Row(("Pending",), "started", "Running")
SUCCEED, DELETE = Row(("Running",), "succeeded", "Done"), Row((LIVE,), "delete", DELETED)
FAIL = Row(("Running",), "failed", "Failed", condition="GaveUp")


def job(labels: Sequence[Label], rows: Sequence[Row], timeouts: Sequence[Timeout], retired: Sequence[Retired]) -> Table:
    """A job, and below a policy."""
    facet = Facet(
        name="phase", labels=tuple(labels), rows=tuple(rows), timeouts=tuple(timeouts), retired=tuple(retired),
        adopted=State("Pending", (OK,)),
    )
    intents = tuple(one for one in ("create", "delete", "cancel", "pause") if any(row.trigger == one for row in rows))
    return Table(
        kind="job", id=("policy", "job"), parent="policy", intents=intents,
        derived=tuple(dict.fromkeys(one.trigger for one in timeouts)), facets=(facet,),
    )


def policy(*views: View) -> Table:
    """A policy, which shows what its jobs do."""
    rows = (Row((ABSENT, DELETED), "create", "Enabled"), Row((LIVE,), "delete", DELETED))
    shown = tuple(Label(view.to, PROGRESSING, view.to) for view in views)
    facet = Facet(
        name="phase", labels=(Label("Enabled", OK, "Enabled"), *shown), rows=rows, views=views,
        adopted=State("Enabled", (OK,)),
    )
    return Table(kind="policy", id=("policy",), intents=("create", "delete"), facets=(facet,))


def jobs_in(to: str, *phases: str) -> View:
    """The view that a policy shows while jobs are in these phases."""
    return View(to, (AnyBelow("policy", "job", phases),))


FIRST = Kinds((
    policy(jobs_in("BackingUp", "Running", "Retrying"), jobs_in("Failing", "Failed")),
    job(
        (PENDING, RUNNING, RETRYING, PAUSED, DONE, GAVE_UP, CANCELLED),
        (CREATE, START, SUCCEED, FAIL, Row(("Running",), "lost", "Retrying"), Row(("Retrying",), "retry", "Pending"),
         Row(("Pending",), "pause", "Paused"), Row(("Paused",), "resumed", "Pending"),
         Row(("Pending", "Running", "Retrying"), "cancel", "Failed", condition="Cancelled"), DELETE),
        (Timeout("Retrying", "retry", seconds=3600),), (),
    ),
), products=OWN)
"""Jobs may be Retrying, Paused, and Failed [Cancelled]."""
SECOND_ROWS = (
    CREATE, START, SUCCEED, FAIL, Row(("Pending",), "expire", "Failed", condition="GaveUp"),
    Row(("Pending",), "held", "Held"), Row(("Held",), "cancel", "Pending"), DELETE,
)
SECOND_LABELS = (PENDING, RUNNING, DONE, GAVE_UP, Label("Held", OK, "Held"))
EXPIRES = Timeout("Pending", "expire", seconds=7200)
SECOND_MAP = (Retired("Retrying", to="Pending"), Retired("Paused", to="Held"),
              Retired("Failed", has="Cancelled", to="Failed", condition="GaveUp"))
UNMAPPED = Kinds((
    policy(jobs_in("Waiting", "Pending")), job(SECOND_LABELS, SECOND_ROWS, (EXPIRES,), SECOND_MAP[1:]),
), products=OWN)
"""As `SECOND`, but nothing says where jobs go that are Retrying."""
SECOND = Kinds((policy(jobs_in("Waiting", "Pending")), job(SECOND_LABELS, SECOND_ROWS, (EXPIRES,), SECOND_MAP)), products=OWN)
"""Jobs may be Held, and no longer Retrying, Paused or Failed [Cancelled]. Those that wait for long give up."""
THIRD = Kinds((
    policy(jobs_in("Waiting", "Pending")),
    job(
        (PENDING, RUNNING, DONE, GAVE_UP), (CREATE, START, SUCCEED, FAIL, DELETE, Row(("Pending",), "cancel", "Done")), (),
        (*SECOND_MAP, Retired("Held", to=DELETED)),
    ),
), products=OWN)
"""Nothing is Held any more, so a job that was Paused at first is Deleted."""
# fmt: on

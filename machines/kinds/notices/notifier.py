"""The kind `notifier`: how far the log of an installation was followed, and whether somebody follows it.

Belongs here: its table. Does not: following (`engine.products.notices`).
"""

from phaseline.machines.language.table import ABSENT, Facet, Field, Label, Row, Table
from phaseline.schemas.records import State

FOLLOWING, LAGGING = "Following", "Lagging"
SILENT_AFTER = 120.0
"""Seconds after which a notifier that said nothing is Silent."""

# fmt: off
NOTIFIER = Table(
    kind="notifier",
    id=("prefix",),
    known_by="itself",
    place=True,
    silence_after=SILENT_AFTER,
    doc="How far the log of the installation with that prefix was followed. Several notifiers are one.",
    intents=(),
    attributes=(
        Field("place",        int, "the place in the log up to which all events of notices were stored"),
        Field("log_identity", int, "the identity of that log"),
        Field("first",        int, "the place after which the log makes what was not over then"),
        Field("at",           str, "the time up to which all that fell due was stored"),
        Field("rules",        str, "a digest of the rules and of all else that decides"),
    ),
    facets=(Facet(
        name="phase",
        healthy=FOLLOWING,
        adopted=State(FOLLOWING),
        labels=(
            #     phase      cond. en                       others
            Label(FOLLOWING, None, "Following",             {"zh": "跟进中"}, state_class="good"),
            Label(LAGGING,   None, "More than a minute behind", {"zh": "滞后"}, state_class="bad"),
        ),
        rows=(
            #   from                          trigger     to
            Row((ABSENT, FOLLOWING, LAGGING), "followed", FOLLOWING, assigns=True),
            Row((ABSENT, FOLLOWING, LAGGING), "lagged",   LAGGING,   assigns=True),
        ),
    ),),
)

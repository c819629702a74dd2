"""The kind `notice`: what people are told of one cause. Its events come from the notifier, with the log's times.

Belongs here: its table. Does not: rules (`products.notices.fold`), who is told (`delivery`).
"""

from phaseline.machines.language.predicates import Above
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Cascade,
    Facet,
    Field,
    Label,
    Row,
    Table,
    Timeout,
)
from phaseline.schemas.records import State

WAITING, HELD, OPEN, CLEARING, CLOSED = "Waiting", "Held", "Open", "Clearing", "Closed"
FREE, TAKEN, ON_HOLD, GIVEN_BACK = "Free", "Taken", "OnHold", "GivenBack"
TAKEN_FOR = 8 * 3600.0
"""Seconds after which a notice that somebody took is given back."""
KEPT = 30 * 86_400.0
"""Seconds after its end after which a notice is forgotten. Its history stays in the log, and in the archive."""
ANY = (ABSENT, DELETED, LIVE)
NEW = (ABSENT, DELETED)
UNDER_WAY = (WAITING, HELD, OPEN, CLEARING)
IS_UNDER_WAY = (Above("notice", UNDER_WAY),)
FIRST = ("began", "held", "opened", "returned", "clearing", "closed", "lapsed", "happened")
"""The events of which each may be the first one that is heard of a notice."""

# fmt: off
PHASE = Facet(
    name="phase",
    healthy=CLOSED,
    adopted=State(OPEN),
    labels=(
        #     phase     cond. en                        others
        Label(WAITING,  None, "Waiting",                {"zh": "等待确认"}, state_class="busy"),
        Label(HELD,     None, "Held",                   {"zh": "暂缓通知"}, state_class="excused"),
        Label(OPEN,     None, "Open",                   {"zh": "未恢复"},   state_class="bad"),
        Label(CLEARING, None, "Open, seems to be over", {"zh": "恢复中"},   state_class="bad"),
        Label(CLOSED,   None, "Closed",                 {"zh": "已结束"},   state_class="good"),
    ),
    rows=(
        #   from          trigger      to
        Row(ANY,          "began",     WAITING,  assigns=True),
        Row(ANY,          "held",      HELD,     assigns=True),
        Row(ANY,          "opened",    OPEN,     assigns=True),
        Row(ANY,          "returned",  OPEN,     assigns=True),
        Row(ANY,          "clearing",  CLEARING, assigns=True),
        Row(ANY,          "closed",    CLOSED,   assigns=True),
        Row(ANY,          "lapsed",    CLOSED,   assigns=True),
        Row(ANY,          "happened",  CLOSED,   assigns=True),
        Row(UNDER_WAY,    "changed",   SAME,     assigns=True),
        Row(UNDER_WAY,    "flapping",  SAME,     assigns=True),
        Row(UNDER_WAY,    "reminded",  SAME,     assigns=True),
        Row((CLOSED,),    "forgotten", DELETED),
    ),
    timeouts=(Timeout(CLOSED, "forgotten", seconds=KEPT),),
)
ATTENTION = Facet(
    name="attention",
    healthy=FREE,
    adopted=State(FREE),
    labels=(
        #     phase       cond. en                           others
        Label(FREE,       None, "Not taken",                 {"zh": "无人处理"}, state_class="good"),
        Label(TAKEN,      None, "Taken",                     {"zh": "处理中"},   state_class="excused"),
        Label(ON_HOLD,    None, "On hold",                   {"zh": "已搁置"},   state_class="excused"),
        Label(GIVEN_BACK, None, "Taken, and not dealt with", {"zh": "已退回"},   state_class="bad"),
    ),
    rows=(
        #   from                              trigger      to
        *(Row(NEW,                            trigger,     FREE) for trigger in FIRST),
        Row((FREE, TAKEN, ON_HOLD, GIVEN_BACK), "take",      TAKEN,      when=IS_UNDER_WAY, assigns=("taken_by",)),
        Row((TAKEN, GIVEN_BACK),              "give_back", FREE,       forgets=("taken_by",)),
        Row((FREE, TAKEN, ON_HOLD, GIVEN_BACK), "hold",      ON_HOLD,    when=IS_UNDER_WAY, assigns=("hold_seconds",)),
        Row((ON_HOLD,),                       "release",   FREE),
        Row((TAKEN,),                         "expired",   GIVEN_BACK),
        Row((ON_HOLD,),                       "expired",   FREE),
        Row((TAKEN, ON_HOLD, GIVEN_BACK),     "closed",    FREE,       forgets=("taken_by",)),
        Row((TAKEN, ON_HOLD, GIVEN_BACK),     "lapsed",    FREE,       forgets=("taken_by",)),
        Row((LIVE,),                          "forgotten", DELETED),
    ),
    timeouts=(
        Timeout(TAKEN,   "expired", seconds=TAKEN_FOR),
        Timeout(ON_HOLD, "expired", seconds_from="hold_seconds"),
    ),
)
NOTICE = Table(
    kind="notice",
    id=("rule", "group"),
    known_by="itself",
    doc="What people are told of one cause, by one rule.",
    intents=("take", "give_back", "hold", "release"),
    derived=("expired", "forgotten"),
    attributes=(
        Field("severity",     str,   "how bad it is, as the rule says"),
        Field("to",           str,   "the names of those who are told", many=True),
        Field("about",        str,   "the topmost of those concerned, `kind/id`"),
        Field("state",        str,   "its states"),
        Field("trigger",      str,   "the trigger of its last record"),
        Field("said",         dict,  "reason and message of that record"),
        Field("cause",        dict,  "the event that led to that record"),
        Field("because",      dict,  "what explains it, if that is not concerned itself"),
        Field("number",       int,   "how many are concerned"),
        Field("most",         int,   "how many were concerned at most"),
        Field("below",        int,   "how many more are concerned in notices that this one holds"),
        Field("names",        str,   "the first hundred of those concerned, `kind/id`", many=True),
        Field("kinds",        dict,  "how many are concerned, by kind"),
        Field("left",         dict,  "how many are concerned no more, by the class in which they left"),
        Field("since",        str,   "since when the first is concerned"),
        Field("begins",       int,   "the place in the log from which on it follows"),
        Field("log_identity", int,   "the identity of that log"),
        Field("sequence",     int,   "the number of its last event: a million times the place, and a count"),
        Field("due",          str,   "when its last event fell due"),
        Field("flapping",     bool,  "whether it comes and goes"),
        Field("held_by",      str,   "the notice that holds it"),
        Field("window",       str,   "the window that holds it, or held what it sums up"),
        Field("opened_by",    str,   "who opened that window"),
        Field("opened",       str,   "when it was told first"),
        Field("ended",        str,   "when nobody was concerned any more"),
        Field("ended_as",     str,   "the class in which the last one left, or `rule changed`"),
        Field("taken_by",     str,   "who takes care of it"),
        Field("hold_seconds", float, "for how long it is on hold; 0 until it is over", default=0.0, least=0),
    ),
    facets=(PHASE, ATTENTION),
    cascades=(
        Cascade("pause",     at=("delivery",), on=("hold",)),
        Cascade("release",   at=("delivery",), on=("release", "take", "expired", "closed", "lapsed")),
        Cascade("not_cared", at=("delivery",), into=GIVEN_BACK),
    ),
)

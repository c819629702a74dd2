"""The kind `delivery`: one notice on its way to one receiver. The notifier queues it, senders say what became of it.

Belongs here: its table. Does not: sending (`engine.products.notices`).
"""

from phaseline.machines.kinds.notices.notice import ON_HOLD, TAKEN
from phaseline.machines.language.predicates import Above
from phaseline.machines.language.table import ABSENT, DELETED, SAME, Facet, Field, Label, Row, Table, Timeout
from phaseline.schemas.records import State

QUEUED, SENDING, OVERTAKEN, SENT = "Queued", "Sending", "Overtaken", "Sent"
FAILED, GIVEN_UP, HELD = "Failed", "GivenUp", "Held"
LOST = 180.0
"""Seconds after which a sender that said nothing is taken to be gone."""
WORDS = ("begin", "change", "flapping", "reminder", "end")
REMINDER = {"word": "reminder"}
IS_TAKEN = (Above("notice", (TAKEN,), facet=1),)
IS_ON_HOLD = (Above("notice", (ON_HOLD,), facet=1),)
FAILURE = ("error", "tries", "wait", "failing_since")
"""The attributes that say why tries fail. They end with the first try that succeeds."""
FAILED_TRY = (*FAILURE, "tried", "handle")
"""What a try that fails sets: also that the receiver surely did not take it, and who of several has taken it."""
NEWS = ("word", "opened")
"""What is to be told."""
MORE = {"more": True}
TOLD = ("told", "heard", "handle")
"""The attributes that say what the receiver has heard."""
BEGINNING = (ABSENT, DELETED)
AT_REST = (QUEUED, SENT, HELD, GIVEN_UP)

# fmt: off
DELIVERY = Table(
    kind="delivery",
    id=("rule", "group", "receiver"),
    parent="notice",
    known_by="itself",
    doc="One notice on its way to one receiver. It is sent as the notice is at that time, at least once.",
    intents=("send", "retry"),
    derived=("due", "lost", "pause", "release", "not_cared", "owner_gone"),
    attributes=(
        Field("word",          str,   "what is to be told", options=WORDS),
        Field("opened",        str,   "when the notice opened of which that is to be told"),
        Field("tried",         str,   "when the notice opened of which the last try told, if it may have arrived"),
        Field("told",          str,   "what was told last"),
        Field("heard",         str,   "when the notice opened of which that was told"),
        Field("error",         str,   "why the last try failed"),
        Field("tries",         int,   "how many tries have failed since the last one that did not", least=0),
        Field("wait",          float, "seconds until the next try", least=1),
        Field("failing_since", str,   "when the first of these tries failed"),
        Field("handle",        dict,  "what the receiver calls the message that it has, to change it in place"),
    ),
    fields={"sent": (Field("more", bool, "whether something else is to be told next"),)},
    facets=(Facet(
        name="phase",
        healthy=SENT,
        adopted=State(QUEUED),
        pending=(SENDING, OVERTAKEN),
        labels=(
            #     phase      cond. en                           others
            Label(QUEUED,    None, "Queued",                    {"zh": "排队中"},   state_class="busy"),
            Label(SENDING,   None, "Sending",                   {"zh": "发送中"},   state_class="busy"),
            Label(OVERTAKEN, None, "Sending, with news",        {"zh": "发送中"},   state_class="busy"),
            Label(SENT,      None, "Sent",                      {"zh": "已发送"},   state_class="good"),
            Label(HELD,      None, "On hold",                   {"zh": "暂缓发送"}, state_class="excused"),
            Label(FAILED,    None, "Failed, to be tried again", {"zh": "发送失败"}, state_class="bad"),
            Label(GIVEN_UP,  None, "Given up",                  {"zh": "放弃发送"}, state_class="bad"),
        ),
        rows=(
            #   from                                   trigger       to
            Row((SENDING, OVERTAKEN, *AT_REST, FAILED), "queued",    SAME,      given=REMINDER, when=IS_TAKEN),
            Row((*BEGINNING, *AT_REST, FAILED),        "queued",     HELD,      when=IS_ON_HOLD, assigns=NEWS),
            Row((SENDING, OVERTAKEN),                  "queued",     OVERTAKEN, assigns=NEWS),
            Row((FAILED,),                             "queued",     SAME,      assigns=NEWS),
            Row((*BEGINNING, *AT_REST),                "queued",     QUEUED,    assigns=NEWS),
            Row((QUEUED,),                             "send",       SENDING,   assigns=("tried",)),
            Row((SENDING,),                            "sent",       QUEUED,    given=MORE, assigns=TOLD, forgets=FAILURE),
            Row((SENDING,),                            "sent",       SENT,      assigns=TOLD, forgets=FAILURE),
            Row((OVERTAKEN,),                          "sent",       QUEUED,    assigns=TOLD, forgets=FAILURE),
            Row((QUEUED,),                             "sent",       SAME,      assigns=TOLD, forgets=FAILURE),
            Row((SENDING, OVERTAKEN),                  "failed",     FAILED,    assigns=FAILED_TRY),
            Row((SENDING, OVERTAKEN),                  "given_up",   GIVEN_UP,  assigns=FAILED_TRY),
            Row((SENDING,),                            "lost",       QUEUED),
            Row((OVERTAKEN,),                          "lost",       QUEUED),
            Row((FAILED,),                             "due",        QUEUED),
            Row((FAILED, GIVEN_UP),                    "retry",      QUEUED),
            Row((QUEUED, FAILED),                      "pause",      HELD),
            Row((HELD,),                               "release",    QUEUED),
            Row((SENT,),                               "not_cared",  QUEUED),
        ),
        timeouts=(
            Timeout(FAILED,    "due",  seconds_from="wait"),
            Timeout(SENDING,   "lost", seconds=LOST),
            Timeout(OVERTAKEN, "lost", seconds=LOST),
        ),
    ),),
)

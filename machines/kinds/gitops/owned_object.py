"""The kind `owned_object`: an object that another object in the cluster made, such as a Pod.

Belongs here: its table, and the names in its ids. Does not: judging its manifest (`observe`), who made what (the
engine's observer).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kinds.gitops.happenings import HAPPENINGS, SEEN, note_events, of_this_life
from phaseline.machines.kinds.gitops.observe import ASIDE, note_expired, owned_health
from phaseline.machines.kinds.kubernetes import observation
from phaseline.machines.kinds.kubernetes.health.plugins import revisions
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH
from phaseline.machines.kinds.kubernetes.health_labels import HEALTHS, UNRULED
from phaseline.machines.kinds.kubernetes.manifest_id import ManifestId
from phaseline.machines.kinds.kubernetes.observation import (
    FORMER,
    KIND_FACTS,
    LISTED,
    OBJECT,
    VERSION,
    ObservedPair,
    gone,
    late,
    with_version,
)
from phaseline.machines.kinds.kubernetes.profiles import (
    DEGRADED,
    HEALTHY,
    MISSING,
    NO_HEALTH,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
)
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.scripts import SCRIPTS
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Attributes,
    Facet,
    Field,
    Interpret,
    Label,
    Refusal,
    Row,
    RuleEvent,
    Table,
    Timeout,
)
from phaseline.schemas.records import State

NESTED_BY, PARTED_BY = "~", ":"
"""What separates an object from the one that it made, and the parts of a name: group, kind, namespace, name."""
EVER = (ABSENT, DELETED, LIVE)
ASSESSED = (UNKNOWN, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, NO_HEALTH, ASIDE)
NOTED = ("health_message", "evidence", "concerns", *observation.UNTIL_NAMES, "uid", "former_uids")


@rule("gitops.observed_owned", revision=5, uses=(HEALTH, SCRIPTS, revisions))
def read_owned(scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """The health of an object that another one made, by the settings of its application."""
    pair = ObservedPair(event.data.get("live"), None, False, ObservedPair.of(event.data).facts)
    if pair.live is None:
        return gone(is_known=scene.above(entity_id, "owned_object") is not None)
    if wrong := _mismatch(pair.live, entity_id):
        return Refusal(f"data.live {wrong}", invalid=True)
    if (old := late(scene.above(entity_id, "owned_object"), event.data)) is not None:
        return old
    return owned_health(scene, entity_id, attributes, event, pair)


def _mismatch(live: Mapping[str, Any], entity_id: str) -> str:
    """Why a manifest is not that of the last name in an id; empty if it is."""
    parts = entity_id.rpartition("/")[2].rpartition(NESTED_BY)[2].split(PARTED_BY, 3)
    if len(parts) < 4:
        return "is of an id that ends in no <group>:<Kind>:<namespace>:<name>"
    group, kind, namespace, name = parts
    return ManifestId.of(live).mismatch(f"{group}:{kind}", namespace, name)


@rule("gitops.note_owned", revision=4)
def note_owned(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the results of the observation."""
    data = event.data
    dropped = ("evidence", "concerns", *observation.UNTIL_NAMES)
    kept = {name: value for name, value in attributes.items() if name not in dropped}
    noted = {**of_this_life(kept, data.get("uid")), **{name: data[name] for name in NOTED if name in data}}
    return with_version(attributes, noted, data)


# fmt: off
OWNED_OBJECT = Table(
    kind="owned_object",
    replaced_by=("observed",),
    id=("set", "application", "kind", "namespace", "name", "owned"),
    parent="resource",
    nested_by=NESTED_BY,
    doc="An object that a resource made, or that such an object made: a ReplicaSet, a Pod, a Job. Git does not declare "
        "it, and it does not count for its application: its owner's health says what it means. `owned` is "
        "`<group>:<Kind>:<namespace>:<name>`, behind that of its own owner and `~` where that is an owned object too.",
    intents=(),
    derived=(observation.EXPIRED, "owner_gone"),
    attributes=(
        Field("health_message", str,  "the reason for its health"),
        Field("evidence",       dict, "what its health rests on: condition, status, reason, message, since", many=True),
        Field("concerns",       dict, "conditions that say of a failure and do not decide its health", many=True),
        *observation.UNTIL,
        OBJECT,
        VERSION,
        FORMER,
        HAPPENINGS,
    ),
    carries=("observed",),
    fields={
        "observed": (
            Field("live", dict, "the manifest in the cluster; null if there is none any more", required=True, null=True),
            KIND_FACTS,
            LISTED,
        ),
        "events_seen": SEEN,
        "removed": (MOVED,),
    },
    interprets=(Interpret(
        ("observed",),
        (Field("health", str, "its health", ASSESSED), Field("gone", bool, "whether it is not there")),
        read_owned,
    ),),
    facets=(
        Facet(
            name="health",
            healthy=HEALTHY,
            message_from="health_message",
            evidence_from="evidence",
            news_from="events",
            adopted=State(NOT_ASSESSED),
            labels=(
                *(one for one in HEALTHS if one.phase != MISSING),
                UNRULED,
                Label(NO_HEALTH, None, "NoHealth",               {"zh": "无健康状态"}, state_class="excused"),
                Label(ASIDE,     None, "Takes no part (a hook)", {"zh": "不参与"},     state_class="excused"),
            ),
            rows=(
                #   from            trigger        to
                Row((LIVE,),        "observed",    DELETED,  given={"gone": True}),
                *(Row(EVER,         "observed",    health,   given={"health": health}, computes=note_owned)
                  for health in ASSESSED),
                Row((LIVE,),        "events_seen", SAME,     computes=note_events),
                Row((HEALTHY, PROGRESSING), observation.EXPIRED, DEGRADED, computes=note_expired),
                Row((LIVE,),        "removed",     DELETED),
                Row((LIVE,),        "owner_gone",  DELETED),
            ),
            timeouts=tuple(
                Timeout(phase, observation.EXPIRED, seconds_from=observation.EXPIRES_IN, restart_on=observation.EXPIRES)
                for phase in (HEALTHY, PROGRESSING)
            ),
        ),
    ),
)
# fmt: on

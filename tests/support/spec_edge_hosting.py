"""docs/spec/edge-hosting.md as `spec_interpreter` reads it: rows, guards, cascades and labels, as the page has them.

Belongs here: what `spec_edge_page` read, row by row, and what the page says in sentences, copied by hand. Does not: how
to read the page, or the rows.

from      a phase; `Updating over Running`: shown Updating, its base Running; `Failed with X`, `Failed without X, Y`
becomes   a phase (its own condition comes along); `Failed +X`: X is added to the causes that stand;
          `set X`, `clear X, Y`; `same`; `named`: as the data says
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.support import spec_edge_page as page

Table = dict[str, tuple[tuple[Any, ...], ...]]

ENDS = ("Absent", "Deleted")
ID = {
    "cluster": ("cluster",),
    "node_pool": ("cluster", "pool"),
    "node": ("cluster", "pool", "node"),
    "component": ("cluster", "component"),
}
PARENT = {"cluster": None, "node_pool": "cluster", "node": "node_pool", "component": "cluster"}
CLEANUP = ("resources", "failed_resources")
ATTRIBUTES = {
    "cluster": ("updating_with_components", *CLEANUP, "silence_after", "silence_below", "brake", "deadline"),
    "node_pool": (
        "default",
        "autoscaling_mode",
        "desired",
        "version",
        *CLEANUP,
        "silence_after",
        "silence_below",
        "deadline",
    ),
    "node": ("version", *CLEANUP, "silence_after", "deadline"),
    "component": (*CLEANUP, "silence_after", "deadline"),
}
POOL = ("default", "autoscaling_mode", "desired", "version")
# The attributes that the data of a trigger may set.
ASSIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "cluster": {
        "create": ("updating_with_components", "deadline"), "update": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("updating_with_components", "silence_after", "silence_below", "brake", "deadline"),
    },
    "node_pool": {
        "create": (*POOL, "deadline"), "adopt": POOL, "update": ("version", "deadline"),
        "scale": ("desired", "deadline"), "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": (*POOL, "silence_after", "silence_below", "deadline"),
    },
    "node": {
        "create": ("version", "deadline"), "adopt": ("version",), "updated": ("version",), "update": ("deadline",),
        "stop": ("deadline",), "start": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("silence_after", "deadline"),
    },
    "component": {
        "create": ("deadline",), "update": ("deadline",),
        "delete": ("resources", "deadline"), "cleanup_failed": ("failed_resources",),
        "configure": ("silence_after", "deadline"),
    },
}  # fmt: skip
# The field of data that chooses the row of a trigger.
CHOOSES = {"delete": "abandon"}

LABELS = {kind: page.labels(kind) for kind in ID}
"""Phase, condition, zh, en, and for nodes whether it is schedulable; those that are stalled have no rows."""
LIVE = {kind: tuple(dict.fromkeys(row[0] for row in rows)) for kind, rows in LABELS.items()}
# The condition that a phase brings along where it has but one; Failed never does.
OWN = {
    kind: {phase: next(row[1] for row in rows if row[0] == phase) for phase in LIVE[kind] if phase != "Failed"}
    for kind, rows in LABELS.items()
}
INTENTS = {kind: page.words(kind)[0] | {"configure"} for kind in ID}
DERIVED = {kind: page.words(kind)[1] | {"stalled"} for kind in ID}
STICKY = {"cluster": (), "node_pool": (), "node": ("Balance", "Unschedulable"), "component": ()}
# Sticky, but does not hold a node in Failed.
LIMITS = ("Unschedulable",)

# The facets `contact` and `signals` are not modelled here (test_contact, test_signals): their triggers and attributes.
CONTACT = (
    "heard", "falls_silent", "unwatched", "waited_anew", "heard_at", "condition", "signals_end", "signals",
)  # fmt: skip


def _rows(kind: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a kind: trigger, from, becomes; where data says which, the values that they are for."""
    found = page.moves(kind)
    chosen = {move.trigger for move in found if move.given}
    for move in found:
        becomes = _becomes(move.becomes)
        values = (move.given,) if move.given else (None, becomes.partition(" +")[2]) if " +" in becomes else (None,)
        if move.trigger == "delete (abandon)":
            yield "delete", (move.at,), becomes, (True,), *(["silent"] if "is Silent" in move.guard else [])
        elif move.trigger in chosen or move.trigger == "delete":
            yield move.trigger, (move.at,), becomes, (None, False) if move.trigger == "delete" else values
        else:
            yield move.trigger, (move.at,), becomes
    for trigger, start, becomes in (("heartbeat", ("Absent",), "Running"), ("heartbeat", LIVE[kind], "same"),
                                    ("configure", LIVE[kind], "same")):  # fmt: skip
        if trigger not in {move.trigger for move in found}:  # of all kinds: the head of the page
            yield trigger, start, becomes
    yield "stalled", tuple(phase for phase, own in OWN[kind].items() if own == "Progressing"), "set Stalled"


def _becomes(cell: str) -> str:
    """What a row makes of a base, without the attributes that it sets."""
    words = re.sub(r"; (sets `\w+`(, `\w+`)*|may set attributes)$", "", cell)
    if words == "as the data names":
        return "named"
    if found := re.fullmatch(r"same; (set|clear)s (.+)", words):
        return f"{found[1]} {found[2]}"
    return re.sub(r" \[\+?(\w+)\]", r" +\1", words)


ROWS: Table = {kind: tuple(_rows(kind)) for kind in ID}


def _guards(kind: str) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    for trigger, said in {
        move.trigger: move.guard for move in page.moves(kind) if "is Silent" not in move.guard
    }.items():
        if said:
            yield (kind, trigger), tuple(re.split(r"(?: is |, | or )", said.replace("the pool", "the node_pool")[4:]))


_GUARDS = dict(one for kind in ID for one in _guards(kind))
# of the entity, trigger: whose state must be one of these phases, or have one of these conditions
GUARDS = {
    key: (
        above,
        tuple(one for one in words if one in LIVE[above]),
        tuple(one for one in words if one not in LIVE[above]),
    )
    for key, (above, *words) in _GUARDS.items()
    if "'" not in above
}
ATTRIBUTE_GUARDS = {
    key: (above.partition("'")[0], above.split("`")[1], value)
    for key, (above, value, *_) in _GUARDS.items()
    if "'" in above
}

# shows, over which bases, while whose phase is one of which, without which condition; the first that holds
VIEWS: Table = {
    "cluster": (
        ("Failed +AllFailed", ("Running",), "every node", ("Failed",)),
        ("Updating", ("Running",), "some node_pool", ("Creating", "Deleting", "Scaling"), "Stalled"),
    ),
    "node_pool": (
        (
            "Failed +ClusterNotRunning",
            ("Creating", "Running", "Updating", "Scaling", "Failed"),
            "the cluster",
            ("Stopped", "Starting"),
        ),
        ("Failed +AllFailed", ("Running",), "every node", ("Failed",)),
        ("Scaling", ("Running", "Failed"), "some node", ("Creating", "Deleting"), "Stalled"),
    ),
    "node": (),
    "component": (
        (
            "Failed +ClusterNotRunning",
            ("Creating", "Running", "Updating", "Failed"),
            "the cluster",
            ("Stopped", "Starting"),
        ),
    ),
}


def _fired(kind: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for triggers, fired, kinds, _ in page.cascades(kind):
        yield from ((trigger, fired, tuple(one for one in ID if one in kinds)) for trigger in sorted(triggers))
    if below := tuple(one for one, parts in ID.items() if parts[: len(ID[kind])] == ID[kind] and one != kind):
        yield "-> Deleted", "owner_gone", below


# on which trigger, or entering which phase: fires what at every live descendant of which kinds
FIRED: Table = {kind: tuple(_fired(kind)) for kind in ID}

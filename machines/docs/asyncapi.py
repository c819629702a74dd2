"""One AsyncAPI 3.0 document: the subjects of an installation, who sends what on them, and what the messages hold.

Belongs here: channels and operations. Does not: the content of messages (`messages`), the grammar of subjects
(`schemas.subjects`).
"""

from typing import Any, get_args

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import json_schema, messages
from phaseline.schemas.envelope import SCHEMA_VERSION
from phaseline.schemas.records import Reason, What
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.wire_codec import RECORD_VERSION

Map = dict[str, Any]
WORDS = ("kind", "trigger", "facet", "state", "reason", "partition", "id")
"""The names of the parameters of addresses: a part of an id that has such a name gets another one."""

ABOUT = """\
Publish lifecycle events, and watch the transitions that they lead to. The words *send* and *receive* are from
Phaseline's point of view: it receives what you publish, and sends what you subscribe to.

**Bodies** are CloudEvents 1.0 envelopes in structured mode: one map holds the attributes and `data`. The header
`content-type` says which format a body has: `application/cloudevents+json` or `application/cloudevents+msgpack`, by
the feed of the installation. Events may have either; and they may be in binary mode, with the attributes in `ce-`
headers.

**Addresses** are NATS subjects. Each part of an id is one token, in which dots, blanks, `*`, `>` and `%` are
percent-encoded. The HTTP server sends an event in the name of a caller with two tokens more behind the root:
`pl.events.c1.~.ann.node.ready.pool-a.n7`. With accounts, agents may not publish there."""


def document(kinds: Kinds, prefix: str) -> Map:
    """The document of an installation with these kinds and this prefix."""
    channels = _channels(kinds, Subjects(prefix))
    return {
        "asyncapi": "3.0.0",
        "id": f"urn:phaseline:{prefix}",
        "info": {
            "title": "Phaseline",
            "version": f"{SCHEMA_VERSION}.{RECORD_VERSION}.0",
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": messages.MSGPACK,
        "servers": {
            "local": {
                "host": "127.0.0.1:4222",
                "protocol": "nats",
                "description": "The server that `phaseline up` starts.",
            }
        },
        "channels": channels,
        "operations": _operations(channels),
        "components": {
            "messages": {**messages.of_events(kinds), **messages.of_records(kinds)},
            "messageTraits": messages.TRAITS,
            "schemas": messages.schemas(kinds),
        },
    }


def _channels(kinds: Kinds, subjects: Subjects) -> dict[str, Map]:
    found: dict[str, Map] = {}
    for kind in kinds.values():
        found[f"events.{kind.name}"] = _events(kind, subjects)
    for kind in kinds.values():
        found[f"transitions.{kind.name}"] = _transitions(kind, subjects)
    log = {
        "transitions": subjects.transition("{partition}", "{kind}", "{facet}", "{state}", "{id}"),
        "rejections": subjects.rejection("{partition}", "{kind}", "{reason}", "{id}"),
        "marks": subjects.mark("{partition}", "{kind}", "{id}"),
        "losses": subjects.loss("{partition}", "{what}"),
    }
    found["rejections"] = _channel(
        _republished(log["rejections"], subjects),
        "The live feed of the rejections of all kinds.",
        ["rejected"],
        {"reason": {"enum": list(get_args(Reason))}},
    )
    found["losses"] = _channel(
        _republished(log["losses"], subjects),
        "The live feed of losses: what a worker found missing.",
        ["lost"],
        {"what": {"enum": list(get_args(What))}},
    )
    of_all = [f"{kind}.transitioned" for kind in kinds]
    found["log.transitions"] = _channel(
        log["transitions"], "Transitions in the log, which is the authoritative record.", of_all
    )
    found["log.rejections"] = _channel(
        log["rejections"], "Rejections in the log.", ["rejected"], {"reason": {"enum": list(get_args(Reason))}}
    )
    found["log.marks"] = _channel(
        log["marks"], "Publishers' sequences in the log, of events that had no other effect.", ["marked"]
    )
    found["log.losses"] = _channel(
        log["losses"], "What workers found missing, in the log.", ["lost"], {"what": {"enum": list(get_args(What))}}
    )
    return found


def _events(kind: Kind, subjects: Subjects) -> Map:
    triggers = list(json_schema.outside(kind))
    return _channel(
        subjects.event(kind.name, "{trigger}", _id_template(kind)),
        f"Events of kind {kind.name}: publish here. {kind.table.doc}".strip(),
        [f"{kind.name}.{trigger}" for trigger in triggers],
        {"trigger": {"enum": triggers}},
    )


def _transitions(kind: Kind, subjects: Subjects) -> Map:
    address = subjects.transition("{partition}", kind.name, "{facet}", "{state}", _id_template(kind))
    phases = dict.fromkeys(phase for facet in kind.table.facets for phase in phases_of(facet)[1:])
    return _channel(
        _republished(address, subjects),
        f"The live feed of the transitions of kind {kind.name}: subscribe here, with wildcards for any token.",
        [f"{kind.name}.transitioned"],
        {"facet": {"enum": list(kind.names)}, "state": {"enum": list(phases)}},
    )


def _republished(address: str, subjects: Subjects) -> str:
    """The subject to which the server republishes `address` of the log: the same without log and partition."""
    return address.replace(f"{subjects.prefix}.log.{{partition}}.", f"{subjects.prefix}.", 1)


def _channel(address: str, description: str, names: list[str], known: dict[str, Map] | None = None) -> Map:
    """known: schemas of some parameters of the address; the others are described by their names."""
    parts = [token[1:-1] for token in address.split(".") if token.startswith("{")]
    return {
        "address": address,
        "description": description,
        "parameters": {name: {"description": _parameter(name), **(known or {}).get(name, {})} for name in parts},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
    }


def _parameter(name: str) -> str:
    return {
        "kind": "The kind of the entity.",
        "trigger": "What happened.",
        "facet": "The facet (state machine) of the entity that changed.",
        "state": "The phase of the facet after the transition.",
        "reason": "Why the event was rejected.",
        "what": "What is missing.",
        "partition": "The number of the partition: 0, 1, 2, ...",
        "id": "The parts of the entity's id, one token each; their number depends on the kind.",
    }.get(name, f"The {name} part of the id.")


def _id_template(kind: Kind) -> str:
    """`{cluster}/{pool}`."""
    words = ["".join(c if c.isalnum() else "_" for c in part) for part in kind.table.id]
    return "/".join(f"{{{word}_name}}" if word in WORDS else f"{{{word}}}" for word in words)


def _operations(channels: dict[str, Map]) -> dict[str, Map]:
    """One for each channel; an operation that names no messages has all messages of its channel."""
    return {
        name: {
            "action": "receive" if name.startswith("events.") else "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": channel["description"],
        }
        for name, channel in channels.items()
    }

"""The AsyncAPI document: valid by the specification's own schema, whole, and true of the subjects and bodies there are.

Belongs here: the document against its specification and the code. Does not: JSON Schemas alone (`test_schemas`).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats import streams
from phaseline.engine.settings import Settings
from phaseline.machines.docs import asyncapi
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from tests.support import event_strategies
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.effort import examples
from tests.support.event_strategies import SUBJECTS, Arriving

DOCUMENT = asyncapi.document(KINDS, "pl")


def everything(value: Any) -> Iterator[dict[str, Any]]:
    """Every map in a document."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from everything(part)
    elif isinstance(value, list):
        for part in value:
            yield from everything(part)


def found_at(pointer: str) -> Any:
    found: Any = DOCUMENT
    for step in pointer.removeprefix("#/").split("/"):
        found = found[step]
    return found


def test_every_reference_leads_somewhere() -> None:
    pointers = {part["$ref"] for part in everything(DOCUMENT) if isinstance(part.get("$ref"), str)}
    assert len(pointers) > 50
    for pointer in pointers:
        assert found_at(pointer) is not None


def test_nothing_stands_unused() -> None:
    pointers = {part["$ref"] for part in everything(DOCUMENT) if isinstance(part.get("$ref"), str)}
    for sort, found in DOCUMENT["components"].items():
        assert {f"#/components/{sort}/{name}" for name in found} <= pointers, sort


def test_parameters_are_those_of_the_address() -> None:
    for channel in DOCUMENT["channels"].values():
        named = re.findall(r"{([^}]*)}", channel["address"])
        # A loss names its partition twice.
        assert list(channel["parameters"]) == [*dict.fromkeys(named)]
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in named)


def validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({**DOCUMENT, "$ref": pointer})


MESSAGES = {name: validator(f"#/components/messages/{name}/payload") for name in DOCUMENT["components"]["messages"]}


@pytest.mark.parametrize("one_of", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_examples_fit_their_messages_and_no_other(one_of: int) -> None:
    """Each is compared with every eighth other message in turn, in `prove` with all."""
    names = list(MESSAGES)
    for number, name in enumerate(names):
        for example in DOCUMENT["components"]["messages"][name].get("examples", ()):
            MESSAGES[name].validate(example["payload"])
            others = {*names[number % one_of :: one_of]} - {name}
            assert not [other for other in others if MESSAGES[other].is_valid(example["payload"])]


def test_examples_are_taken_by_the_core() -> None:
    """Each as the first event of its installation: taken, or refused for its state only."""
    for message in DOCUMENT["components"]["messages"].values():
        for example in message.get("examples", ()):
            body = example["payload"]
            kind, trigger = body["type"].split(".")
            subject = SUBJECTS.event(kind, trigger, body["subject"].partition("/")[2]).replace(".events.", ".inbox.0.")
            for record in folded([Arriving(subject, codec.encode_json(body), 1, 1)]):
                if ".rejection." in record.subject:
                    assert codec.decode(record.body)["data"]["reason"] in ("illegal", "guard", "unknown_parent")


def folded(history: list[Arriving]) -> list[Message]:
    """The records of these events, without the schedules of timers."""
    processor = Processor(Tree(KINDS, NoScripts()), SUBJECTS, 0)
    made = [message for event in history for message in processor.process([event], 0).messages]
    return [message for message in made if not message.subject.startswith("pl.timer.")]


def channels_of(subject: str) -> list[str]:
    """The channels whose address a subject fits; `{id}` alone stands for several tokens."""
    return [
        name
        for name, channel in DOCUMENT["channels"].items()
        if re.fullmatch(
            re.sub(r"\\{id\\}", ".+", re.sub(r"\\{(?!id\\})[^}]*\\}", "[^.]+", re.escape(channel["address"]))), subject
        )
    ]


def republished(subject: str) -> str | None:
    """Where the server republishes a subject of the log, by the stream's own settings."""
    rule = streams.log_config(Settings(prefix="pl"))["republish"]
    source = re.escape(rule["src"]).replace(r"\*", "([^.]+)").replace(">", "(.+)")
    found = re.fullmatch(source, subject)
    return rule["dest"].replace("{{wildcard(2)}}", found[2]).replace(">", found[3]) if found else None


@examples(40)
@given(history=event_strategies.histories(KINDS))
def test_every_record_fits_the_messages_of_its_channels(history: list[Arriving]) -> None:
    for message in folded(history):
        body = json.loads(codec.encode_json(codec.decode(message.body)))
        live = republished(message.subject)
        for subject in (message.subject, *([live] if live else [])):
            [channel] = channels_of(subject)
            offered = DOCUMENT["channels"][channel]["messages"]
            assert any(MESSAGES[name].is_valid(body) for name in offered), (channel, body)


def test_events_go_to_the_channel_of_their_kind() -> None:
    for name in ("cluster", "node_pool", "node", "component"):
        kind = KINDS[name]
        subject = SUBJECTS.event(name, "create", "/".join(["c.1", "a b", "x"][: kind.arity]))
        assert channels_of(subject) == [f"events.{name}"]


def test_phaseline_receives_events_and_sends_the_rest() -> None:
    for name, operation in DOCUMENT["operations"].items():
        assert operation["action"] == ("receive" if name.startswith("events.") else "send")
        assert operation["channel"]["$ref"] == f"#/channels/{name}"


def models(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas of which a generator makes a class or an enumeration of its own, with their places."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return
    if schema.get("properties") or schema.keys() & {"enum", "oneOf", "allOf"}:
        yield place, schema
    for word in ("properties", "allOf", "anyOf", "oneOf"):
        inner = schema.get(word, {})
        for name, part in inner.items() if isinstance(inner, dict) else enumerate(inner):
            if word != "allOf":  # its parts are merged into the whole
                yield from models(part, f"{place}.{name}")
    yield from models(schema.get("items"), f"{place}[]")


def test_every_model_has_a_name_of_its_own() -> None:
    """Generators name a class by the `title` of its schema; without one it becomes `AnonymousSchema_17`."""
    components = DOCUMENT["components"]
    named: dict[str, dict[str, Any]] = {}
    payloads = {name: message["payload"] for name, message in components["messages"].items()}
    for name, schema in [*components["schemas"].items(), *payloads.items()]:
        for place, model in models(schema, name):
            title = model.get("title", "")
            assert re.fullmatch(r"[A-Z][A-Za-z0-9]*", title), place
            assert named.setdefault(title, model) == model, f"{place}: {title} is another model too"
    assert {"NodeCreated", "NodeCreatedData", "NodeTransitioned", "NodeRecord", "RejectionReason"} <= named.keys()

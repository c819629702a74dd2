"""What a client of this version sends and relies on, and what a worker answers it, kept in `tests/golden/clients`.

Belongs here: the samples, and reading a file of them. Does not: what must hold for them (`test_former_clients`). Not
here either: the bytes of records are the business of `test_upcasting`, whole logs of `test_old_logs`.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec

from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.engine.log.questions.question import After, Counts, Name, OwnerAnswer, Question, encode
from phaseline.engine.log.questions.selection import ClassChoice, Selection
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.publish.compose import EventDetails, compose, pack
from phaseline.engine.surfaces.http.routes import all_routes
from phaseline.machines.built_in import PRODUCTS
from phaseline.schemas import codec
from phaseline.schemas.errors import every
from phaseline.schemas.records import Reason
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS

FOLDER = Path(__file__).parents[1] / "golden" / "clients"
WHEN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
NOW = 1_772_438_400_000_000_000
SUBJECTS = Subjects("pl")
MEANING = "VERSION DIGEST SIGNALS"
"""In place of what states mean to the two: it is another one for each version, and with other tables."""
EVENTS: tuple[tuple[str, str, str, dict[str, Any] | None, EventDetails], ...] = (
    ("cluster", "create", "c1", None, {}),
    ("cluster", "adopt", "c 1.a", {"phase": "Running", "reason": "Found"}, {"sequence": 7, "epoch": 2}),
    ("node", "not_ready", "c1/web/n4", {"reason": "KubeletStopped"}, {"extensions": {"traceparent": "00-ab-cd-01"}}),
    ("cluster", "reported", "c1", {"phase": "Running", "uid": "k8s:u-1", "seen": 4711, "about": ["Balance"]}, {}),
    ("cluster", "snapshot", "c1", {"kind": "node_pool", "items": [{"id": "web", "phase": "Running"}]}, {}),
    ("cluster", "update", "c1", {"if_version": 3}, {}),
    ("application", "configure", "shop/shop", {"profile": "argocd", "project": "eu"}, {}),
)
"""Events of every sort that a client composes: kind, trigger, id, data, details."""
SELECTIONS = (
    Selection(),
    Selection(kind="node", below="c1", choice=StateChoice("Failed", frozenset({"Balance"}), exact=True)),
    Selection(of_class=ClassChoice(frozenset({"bad"}), 60), selector=Selector.read("zone=a,!old,size in (3)")),
    Selection(deleted=True, left_behind=True, troubled=True),
)
ANSWERS = (
    OwnerAnswer(3, "w-1", 2, 4711, 12, 12, [Name("node", "c1/web/n4", 5)]),
    OwnerAnswer(3, "w-1", 2, 4711, 900, 500, [], After("node", 499),
                Counts({"bad": 1, "good": 11}, {"bad": 1}, [("c1", {"bad": 1})], 1)),
)  # fmt: skip


def events() -> Iterator[dict[str, str]]:
    """The messages of the events."""
    for number, (kind, trigger, entity_id, data, more) in enumerate(EVENTS, 1):
        details: EventDetails = {"source": "/client/ada", "event_id": f"e-{number}", "time": WHEN, **more}
        message = pack(SUBJECTS, compose(kind, trigger, entity_id, data, details))
        yield {"subject": message.subject, "hex": message.body.hex(), "message_id": message.message_id}


def questions() -> Iterator[str]:
    """The bytes of the questions, which are JSON."""
    for wanted in SELECTIONS:
        yield encode(Question(wanted, NOW, MEANING)).decode()
    yield encode(Question(SELECTIONS[0], NOW, MEANING, After("node", 499), 2, counts=True)).decode()


def taken(event: dict[str, str]) -> Any:
    """What a worker reads in an event, in the types of JSON; the rejection if it is refused."""
    stored = event["subject"].replace("pl.events.", "pl.inbox.0.")
    found = intake.read(BUILT_IN_KINDS, SUBJECTS, stored, bytes.fromhex(event["hex"]), 1, NOW)
    if not isinstance(found, Arrival):
        return {"refused": found.message}
    names = ("kind", "trigger", "id", "data", "sequence", "epoch", "unread")
    shown = {name: getattr(found, name) for name in names} | {"extensions": found.cause.extensions}
    return json.loads(msgspec.json.encode(msgspec.to_builtins(shown)))


def names() -> dict[str, Any]:
    """What programs compare: codes of errors with their exit codes, reasons of rejections, requests by HTTP."""
    ours = [one for one in every() if type(one).__module__.startswith("phaseline.")]
    return {
        "codes": {one.code: int(one.exit_code) for one in sorted(ours, key=lambda one: one.code)},
        "reasons": sorted(get_args(Reason)),
        "http": {
            f"{one.method} {one.path}": sorted(each.name for each in one.parameters) for one in all_routes(PRODUCTS)
        },
    }


def made() -> dict[str, Any]:
    """All of it, as this version makes it."""
    sent = [*events()]
    return {
        "events": [{**one, "taken": taken(one)} for one in sent],
        "questions": [*questions()],
        "answers": [encode(one).decode() for one in ANSWERS],
        **names(),
    }


def kept() -> dict[str, dict[str, Any]]:
    """What each version made, by version."""
    return {path.stem: codec.decode(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))}

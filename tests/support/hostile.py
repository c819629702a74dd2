"""Hostile input from a seed: recorded inputs of rules, with values put in that are legal and that nobody expects.

Belongs here: making values, data, manifests and events. Does not: what is done with them.
"""

import json
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import COMMON, Field
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects
from tests.support.rule_corpus import inputs

SUBJECTS = Subjects("pl")
TEXTS = [
    "", " ", "0", "-1", "1e1000000000", "1e-1000000000", "9" * 400, "1" * 60 + ".5", "1.5Gi", "NaN", "Infinity", "١٢",
    "1h", "9" * 80 + "h", "1" * 300, "{a,b}" * 60, "{" * 60, "*a" * 60, "[", "[!", "\\", "a/b", "/" + "a/" * 200, "/~2",
    "/spec/\u00b2", "/spec/-", "*", "**", "?" * 99, "\x00", "\x1b[2J", "\u202e", "\u0085", "\ud7ff", "\U0010ffff", "null",
    "[" * 500, '{"a":' * 150, '"\\ud800"', "[9" + "9" * 5_000 + "]", "k:{}", "f:spec", "v:1", "apps/v1", "v1",
    "apps/Deployment", "0 8 * * *", "*/0 * * * *", "10:00-18:00", "25:00-1:00", "Europe/Berlin", "../../etc/passwd",
    "2026-13-01T00:00:00Z", "return {}", "return {status=", ".spec | ..", ".[]", "&a [*a]", "a: &a {x: *a}", "x" * 4_096,
    "9999-12-31T23:59:59Z", "app+v1+group", "+", "a+b+c+d+e",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 1e308, -1e308, 5e-324, 0.1]
ODD = [float("nan"), float("inf"), float("-inf"), -0.0, b"", b"\xff" * 9, True, False, None]
SEEDS = [
    one[side]
    for name, sides in (("kubernetes.comparison", ("live", "desired")), ("kubernetes.health", ("live",)))
    for one in inputs(name)
    for side in sides
]
REPORTS = [one["data"] for name in ("emco.note_report", "fleet.note_observed") for one in inputs(name)]
SETTINGS = [one["data"] for one in inputs("gitops.check_settings")]

READ_BY_CODE = [
    ("resource", "observed"), ("application", "configure"), ("application_set", "configure"), ("application", "sync"),
    ("application", "observed"), ("application", "sync_finished"), ("bundle_resource", "observed"),
    ("app_cluster", "bundle_state"),
]  # fmt: skip
"""The triggers whose data rules read, by kind."""


def value(chance: random.Random, depth: int = 3) -> Any:
    """Any value that msgpack can hold."""
    kind = chance.randrange(12)
    if kind < 4:
        return chance.choice(TEXTS)
    if kind < 6:
        return chance.choice(NUMBERS)
    if kind < 8 or not depth:
        return chance.choice(ODD)
    if kind == 8:
        return nested(chance.choice((1, 10, 60, 85)), chance)
    if kind < 10:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(TEXTS): value(chance, depth - 1) for _ in range(chance.randrange(4))}


def nested(levels: int, chance: random.Random) -> Any:
    """A value of many levels."""
    found: Any = 1
    for _ in range(levels):
        found = [found] if chance.random() < 0.5 else {chance.choice(("a", "spec", "items")): found}
    return found


def mutated(found: Any, chance: random.Random, rate: float = 0.04) -> Any:
    """A copy with some parts replaced, left out, doubled, or put at another place."""
    if chance.random() < rate:
        return value(chance)
    if isinstance(found, Mapping):
        made = {name: mutated(part, chance, rate) for name, part in found.items() if chance.random() > rate / 4}
        if made and chance.random() < rate:
            made[chance.choice([*made])] = mutated(chance.choice([*made.values()]), chance, rate)
        return made
    if isinstance(found, list):
        made_list = [mutated(part, chance, rate) for part in found]
        return made_list * 2 if chance.random() < rate else made_list
    return found


def manifest(chance: random.Random) -> Any:
    """A Kubernetes object, mostly one that could be."""
    found = mutated(chance.choice(SEEDS), chance)
    if isinstance(found, dict) and chance.random() < 0.3:
        name = chance.choice(("kubectl.kubernetes.io/last-applied-configuration", "phaseline.io/progress-deadline",
                              "autoscaling.alpha.kubernetes.io/conditions", "argocd.argoproj.io/hook"))  # fmt: skip
        metadata = found.get("metadata")
        found["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "annotations": {name: value(chance)}}
    return found


def of_field(field: Field, chance: random.Random) -> Any:
    """A value for a field: mostly of its type."""
    if chance.random() < 0.04:
        return value(chance)
    makers: dict[type, Callable[[], Any]] = {
        str: lambda: chance.choice(field.options or TEXTS),
        int: lambda: chance.choice([number for number in NUMBERS if isinstance(number, int)]),
        float: lambda: chance.choice([*NUMBERS, float("nan"), float("inf")]),
        bool: lambda: chance.random() < 0.5,
        dict: partial(_map, chance),
    }
    one = makers[field.type]
    return [one() for _ in range(chance.randrange(4))] if field.many else one()


def _map(chance: random.Random) -> Any:
    makers: list[Callable[[random.Random], Any]] = [manifest, _report, _settings]
    return chance.choice(makers)(chance)


def _report(chance: random.Random) -> Any:
    found = mutated(chance.choice(REPORTS), chance)
    return found.get("status", {}) if isinstance(found, dict) else found


def _settings(chance: random.Random) -> Any:
    found = mutated(chance.choice(SETTINGS), chance)
    return found if isinstance(found, dict) else {}


def data(kind: Kind, trigger: str, chance: random.Random) -> dict[str, Any]:
    """Data of an event."""
    fields = {field.name: field for field in (*COMMON, *kind.fields[trigger])}
    found = {name: of_field(field, chance) for name, field in fields.items() if field.required or chance.random() < 0.5}
    if trigger == "configure":
        found = {**found, **_settings(chance)}
    if trigger == "bundle_state":
        found = mutated(chance.choice(REPORTS), chance)
    return found if isinstance(found, dict) else {}


def event(kinds: Kinds, chance: random.Random, root: str = "c") -> tuple[str, bytes]:
    """The subject, from the root on, and the body of an event about one of a few entities."""
    kind = kinds[chance.choice([*kinds])]
    trigger = chance.choice([name for name, role in kind.roles.items() if role != "derived"])
    if chance.random() < 0.5:
        name, trigger = chance.choice(READ_BY_CODE)
        kind = kinds[name]
    found = data(kind, trigger, chance)
    parts = [root, *(chance.choice("ab") for _ in kind.table.id[1:])]
    if "live" in found and isinstance(found["live"], dict) and kind.name in ("resource", "bundle_resource"):
        parts[-3:] = _identity(found, chance)
    body: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(chance.random()),
        "source": "/x",
        "type": f"{kind.name}.{trigger}",
    }
    body |= {"data": found} | ({"sequence": chance.randrange(10**18)} if chance.random() < 0.3 else {})
    subject = SUBJECTS.event(kind.name, trigger, "/".join(parts)).removeprefix("pl.events.")
    try:
        return subject, codec.encode(body) if chance.random() < 0.7 else codec.encode_json(body)
    except (OverflowError, ValueError, RecursionError):  # a number or a text of the corpus that only JSON can hold
        return subject, json.dumps(body, default=str).encode()


def _identity(found: dict[str, Any], chance: random.Random) -> list[str]:
    """The last parts of the id of the observed object; both sides get the same identity."""
    live = found["live"]
    version, kind = live.get("apiVersion"), live.get("kind")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    for side in (live, found.get("desired")):
        if isinstance(side, dict) and chance.random() < 0.9:
            metadata = side.get("metadata")
            named = metadata if isinstance(metadata, dict) else {}
            side |= {"apiVersion": version, "kind": kind, "metadata": {**named, "name": "a", "namespace": "b"}}
    return [f"{group if slash and group else 'core'}:{kind if isinstance(kind, str) else ''}"[:90], "b", "a"]

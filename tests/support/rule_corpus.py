"""The recorded behaviour of every rule that is code: inputs, and the result of the rule for each.

Belongs here: running each rule on its inputs (`tests/golden/rules/<name>.json`) and recording the results
(`tests/golden/rules/outputs.json`). Does not: the test (`test_rule_revisions`).
`python3 dev.py rules` records new inputs and new revisions. It never overwrites results that changed without a new
revision. An input is one line of JSON. When a rule learns something new, add lines by hand.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import table_of
from phaseline.machines.kinds.emco.readiness import READINESS, is_ready
from phaseline.machines.kinds.gitops.sync_windows import WINDOWS, App, decide, next_allowed, read, select
from phaseline.machines.kinds.kubernetes.assess import script_health
from phaseline.machines.kinds.kubernetes.diff.compare import COMPARISON, compare
from phaseline.machines.kinds.kubernetes.diff.differences import NONE
from phaseline.machines.kinds.kubernetes.diff.ignore import apply_ignores
from phaseline.machines.kinds.kubernetes.diff.schemas import type_of_schema
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH, assess_health
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.profiles import PROFILES
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.product import LateTable
from phaseline.machines.language.rules import Revision, declaration_of
from phaseline.machines.language.scripts import SCRIPTS, ScriptRunner
from phaseline.machines.language.table import Cascade, FanOut, Refusal, Row, RuleEvent, Table
from phaseline.schemas.records import FacetState, state

FOLDER = Path(__file__).parents[1] / "golden" / "rules"
OUTPUTS = FOLDER / "outputs.json"
COMMAND = "python -m tests.support.rule_corpus"

Input = Mapping[str, Any]
Run = Callable[[Input], Any]


class Recorded(NamedTuple):
    """An entity of an input, with the parts that rules look at."""

    facets: tuple[FacetState, ...]
    attributes: Mapping[str, Any]


class RecordedScene:
    """The tree of an input: `above` holds each entity that the rule asked for, by `<kind> <id asked with>`.

    `tallies` holds each tally that it asked for, by `<kind> <id> <kind below> <facet>`.
    """

    def __init__(self, given: Input) -> None:
        self._above, self._tallies = given["above"], given.get("tallies", {})

    def above(self, entity_id: str, kind: str) -> SceneEntity | None:
        found = self._above.get(f"{kind} {entity_id}")
        if found is None:
            return None
        facets = tuple(FacetState(_state(base), _state(shown), 0) for base, shown in found["facets"])
        return Recorded(facets, found["attributes"])

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        assert (lacks, inside) == (None, None), "no rule asks for these yet"
        found: Mapping[str, int] = self._tallies[f"{kind} {entity_id} {below} {facet}{f' {has}' if has else ''}"]
        return found

    @property
    def scripts(self) -> ScriptRunner:
        return shared_runner()


def _state(found: list[Any]) -> Any:
    return state(found[0], tuple(found[1]))


# ---- how each sort of code is called


def _happened(given: Input) -> RuleEvent:
    return RuleEvent(given["data"], given["sequence"], given["time"])


def _computes(code: Callable[..., Any]) -> Run:
    return lambda given: code(given["attributes"], _happened(given))


def _fan_out(code: Callable[..., Any]) -> Run:
    return lambda given: code(RecordedScene(given), given["id"], given["data"], given["below"])


def _targets(code: Callable[..., Any]) -> Run:
    return lambda given: code(RecordedScene(given), given["id"], given["data"])


def _interprets(code: Callable[..., Any]) -> Run:
    def run(given: Input) -> Any:
        return code(RecordedScene(given), given["id"], given["attributes"], _happened(given))

    return run


def _predicate(code: Callable[..., Any]) -> Run:
    """A class whose fields stand in the rule: a predicate, or what computes attributes."""
    if not hasattr(code, "holds"):
        return lambda given: code(**given["fields"])(given["attributes"], _happened(given))
    return lambda given: code(**given["fields"]).holds(RecordedScene(given), given["id"])


def _health(given: Input) -> Any:
    found = assess_health(given["live"], PROFILES[given["profile"]])
    return [*found, found.evidence, found.concerns]


def _comparison(given: Input) -> Any:
    overrides = Overrides().merge(given["rules"], "rules")
    sides = [given["desired"], given["live"], *([given["last"]] if given.get("last") else [])]
    freed, effects = apply_ignores(overrides.rules, [dict(side) for side in sides], shared_runner().jq)
    group, slash, _ = given["desired"]["apiVersion"].partition("/")
    found = compare(
        freed[0],
        freed[1],
        last=freed[2] if given.get("last") else None,
        aggregates=overrides.aggregates,
        known_types=overrides.known_types_of(group if slash else "", given["desired"]["kind"]),
        schema=type_of_schema(given["schema"]) if given.get("schema") else None,
    )
    hidden = [list(effect.pointers) for effect in effects]
    return {"differences": [[one.pointer, *one[1:]] for one in found], "hidden": hidden}


def _readiness(given: Input) -> bool:
    return is_ready(given["kind"], given["found"])


def _windows(given: Input) -> Any:
    at = datetime.fromisoformat(given["at"]).astimezone(UTC)
    windows = select([read(*one) for one in given["windows"]], App(*given["app"]))
    found = decide(windows, at, manual=given["manual"])
    opens = next_allowed(windows, at, manual=given["manual"]) if given.get("opens") else None
    return [found.allowed, found.why, None if opens is None or opens.at is None else opens.at.isoformat()]


def _scripts(given: Input) -> Any:
    if "lua" in given:
        return script_health(shared_runner(), given["lua"], given["live"], given["now"])
    return shared_runner().jq([given["jq"]], [given["found"]])[0][0]


LIBRARIES: Mapping[Revision, Run] = {
    HEALTH: _health,
    COMPARISON: _comparison,
    READINESS: _readiness,
    WINDOWS: _windows,
    SCRIPTS: _scripts,
}


class Known(NamedTuple):
    """A rule or a library: its revision, the revisions that it uses, and how to run it on an input."""

    revision: Revision
    uses: tuple[Revision, ...]
    run: Run


def known(tables: tuple[Table | LateTable, ...] = BUILT_IN) -> dict[str, Known]:
    """Every rule in the tables, and every library, by name."""
    found = {revision.name: Known(revision, (), run) for revision, run in LIBRARIES.items()}
    for table in map(table_of, tables):
        for code, run in _rules(table):
            declared = declaration_of(code)
            assert declared is not None
            found[declared.revision.name] = Known(declared.revision, declared.used, run)
    return dict(sorted(found.items()))


def _rules(found: Any) -> Iterator[tuple[Any, Run]]:
    """Each rule below a part of a table, with the way to run it."""
    if isinstance(found, Row) and found.computes is not None:
        yield found.computes, _computes(found.computes)
    if isinstance(found, Cascade) and found.targets is not None:
        yield found.targets, _targets(found.targets)
        return
    if isinstance(found, FanOut):
        yield found.rule, _fan_out(found.rule)
        return
    if isinstance(found, Table):
        yield from ((read_.rule, _interprets(read_.rule)) for read_ in found.interprets)
    if isinstance(found, Mapping):
        found = tuple(found.values())
    if isinstance(found, tuple):
        for each in found:
            yield from _rules(each)
    elif is_dataclass(found) and declaration_of(found) is not None:
        yield type(found), _predicate(type(found))
    elif is_dataclass(found):
        for field in fields(found):
            yield from _rules(getattr(found, field.name))


# ---- inputs and outputs


def inputs(name: str) -> list[Input]:
    """The inputs of a rule."""
    path = FOLDER / f"{name}.json"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def plain(output: Any) -> Any:
    """An output as JSON. A refusal counts without its text, because an audit does not compare texts."""
    if isinstance(output, Refusal):
        return {"refused": "invalid" if output.invalid else "guard"}
    if output is NONE:
        return {"nothing": True}
    if isinstance(output, Mapping):
        return {str(name): plain(value) for name, value in output.items()}
    if isinstance(output, tuple | list):
        return [plain(value) for value in output]
    return output


def digest(value: Any) -> str:
    """Twelve hexadecimal digits of a JSON value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def outputs(one: Known) -> dict[str, str]:
    """The digest of the result, by the digest of the input."""
    return {digest(given): digest(plain(one.run(given))) for given in inputs(one.revision.name)}


class Golden(NamedTuple):
    """The recorded behaviour of a rule."""

    revision: int
    uses: dict[str, int]
    outputs: dict[str, str]


def goldens() -> dict[str, Golden]:
    """The recorded behaviour, by the rule's name."""
    found = json.loads(OUTPUTS.read_text(encoding="utf-8")) if OUTPUTS.exists() else {}
    return {name: Golden(**each) for name, each in found.items()}


def golden_of(one: Known) -> Golden:
    """The present behaviour of a rule, in the form in which it is recorded."""
    return Golden(int(one.revision.number), {use.name: int(use.number) for use in one.uses}, outputs(one))


def problem(one: Known, recorded: Golden | None, found: Golden) -> str | None:
    """What is wrong with a rule, compared with its record, and what to do; None if nothing is wrong."""
    name, number = one.revision
    if not found.outputs:
        return f"rule {name} has no recorded inputs: write some to {FOLDER.name}/{name}.json, one JSON map a line"
    if recorded is None:
        return f"nothing is recorded of rule {name}: run {COMMAND}"
    if (recorded.revision, recorded.uses) == (found.revision, found.uses):
        changed = [key for key, was in recorded.outputs.items() if found.outputs.get(key, was) != was]
        if changed:
            return (
                f"the behaviour of rule {name} changed on {len(changed)} of {len(recorded.outputs)} inputs "
                f"({', '.join(changed[:3])}): raise its revision to {found.revision + 1}, then run {COMMAND}"
            )
    return None if recorded == found else f"rule {name}, revision {number}, is not recorded as it is: run {COMMAND}"


def record() -> list[str]:
    """Write the new records. Rules that changed without a new revision keep theirs; returns these problems."""
    recorded, now = goldens(), {}
    problems = []
    for name, one in known().items():
        found = golden_of(one)
        said = problem(one, recorded.get(name), found)
        changed = said is not None and "the behaviour of rule" in said
        now[name] = recorded[name] if changed else found
        problems += [said] if said is not None and (changed or not found.outputs) else []
    lines = json.dumps({name: each._asdict() for name, each in now.items()}, indent=1, sort_keys=True)
    OUTPUTS.write_text(lines + "\n", encoding="utf-8")
    return problems


if __name__ == "__main__":
    told = record()
    print("\n".join(told) or f"recorded: {OUTPUTS}", file=sys.stderr if told else sys.stdout)
    sys.exit(bool(told))

"""Rules that are code do what they did, or have another revision.

Belongs here: holding each rule against what was recorded of it, and that this notices a change. Does not: the corpus
(`rule_corpus`), whether a rule is right (the tests of each kind).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.fingerprint import rules_of
from phaseline.machines.compiler.kinds import table_of
from phaseline.machines.kinds.emco import bundle_state
from phaseline.machines.kinds.kubernetes.health import registry
from phaseline.machines.kinds.kubernetes.health.result import degraded
from phaseline.machines.language.rules import Revision, declaration_of
from tests.support import rule_corpus
from tests.support.rule_corpus import Golden, Known, digest, golden_of, goldens, inputs, known, problem, record

KNOWN = known()
GOLDENS = goldens()


@pytest.mark.parametrize("name", KNOWN)
def test_a_rule_does_what_it_did_or_has_another_revision(name: str) -> None:
    assert problem(KNOWN[name], GOLDENS.get(name), golden_of(KNOWN[name])) is None


def test_every_rule_and_every_library_has_a_corpus() -> None:
    declared = {
        declared for code in rules_of(tuple(map(table_of, BUILT_IN))) if (declared := declaration_of(code)) is not None
    }
    names = {one.revision.name for one in declared} | {use.name for one in declared for use in one.used}
    assert names == set(KNOWN) == set(GOLDENS)
    assert {path.stem for path in rule_corpus.FOLDER.glob("*.json")} == {*names, "outputs"}
    for name in names:
        given = inputs(name)
        assert given, name
        assert len({digest(one) for one in given}) == len(given), name


def changed(name: str) -> str | None:
    one = known()[name]
    return problem(one, GOLDENS[name], golden_of(one))


def test_a_library_that_does_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = registry.RULES["apps", "Deployment"]
    monkeypatch.setitem(registry.RULES, ("apps", "Deployment"), deployment._replace(judge=lambda *_: degraded("ha")))
    said = changed("kubernetes.health")
    assert said is not None
    assert said.startswith("the behaviour of rule kubernetes.health changed on ")
    newer = int(registry.HEALTH.number) + 1
    assert f"raise its revision to {newer}, then run python -m tests.support.rule_corpus" in said
    assert "the behaviour of rule gitops.observed changed" in str(changed("gitops.observed"))
    assert changed("kubernetes.comparison") is None


def test_a_rule_that_does_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_state, "KEY_KINDS", ())
    assert "the behaviour of rule emco.reported_presence changed" in str(changed("emco.reported_presence"))
    assert "the behaviour of rule emco.presence_is changed" in str(changed("emco.presence_is"))


def small(run: Any, revision: int = 1) -> Known:
    return Known(Revision("acme.small", revision), (Revision("acme.library", 1),), run)


def test_what_is_said_of_a_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rule_corpus, "FOLDER", tmp_path)
    one, other = small(lambda given: given["n"] + 1), small(lambda given: given["n"] * 2)
    assert "rule acme.small has no recorded inputs" in str(problem(one, None, golden_of(one)))
    (tmp_path / "acme.small.json").write_text('{"n": 1}\n{"n": 2}\n')
    recorded = golden_of(one)
    assert (recorded.revision, recorded.uses, len(recorded.outputs)) == (1, {"acme.library": 1}, 2)
    assert "nothing is recorded of rule acme.small: run" in str(problem(one, None, recorded))
    assert problem(one, recorded, recorded) is None
    assert "the behaviour of rule acme.small changed on 1 of 2 inputs" in str(
        problem(other, recorded, golden_of(other))
    )
    newer = small(other.run, revision=2)
    assert "rule acme.small, revision 2, is not recorded as it is: run" in str(
        problem(newer, recorded, golden_of(newer))
    )
    library = other._replace(uses=(Revision("acme.library", 2),))
    assert "is not recorded as it is: run" in str(problem(library, recorded, golden_of(library)))
    (tmp_path / "acme.small.json").write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n')
    assert "is not recorded as it is: run" in str(problem(one, recorded, golden_of(one)))


def test_recording_takes_new_revisions_and_leaves_changed_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "acme.small.json").write_text('{"n": 1}\n')
    monkeypatch.setattr(rule_corpus, "FOLDER", tmp_path)
    monkeypatch.setattr(rule_corpus, "OUTPUTS", tmp_path / "outputs.json")

    def recorded(one: Known) -> tuple[list[str], Golden]:
        monkeypatch.setattr(rule_corpus, "known", lambda: {"acme.small": one})
        return record(), goldens()["acme.small"]

    problems, first = recorded(small(lambda given: given["n"] + 1))
    assert (problems, first.revision) == ([], 1)
    [said], same = recorded(small(lambda given: given["n"] + 2))
    assert "raise its revision to 2" in said
    assert same == first
    problems, second = recorded(small(lambda given: given["n"] + 2, revision=2))
    assert (problems, second.revision) == ([], 2)
    assert second.outputs != first.outputs
    assert json.loads((tmp_path / "outputs.json").read_text())["acme.small"]["revision"] == 2

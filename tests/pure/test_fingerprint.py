"""A table's version: the same in every process, another for another behaviour, untouched by texts."""

import dataclasses
import re
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, cast

import pytest

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler import fingerprint
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.edge_hosting.component import COMPONENT
from phaseline.machines.kinds.edge_hosting.node import NODE
from phaseline.machines.kinds.emco.emco_resource import EMCO_RESOURCE
from phaseline.machines.kinds.gitops import observe
from phaseline.machines.kinds.kubernetes.health.registry import HEALTH
from phaseline.machines.language import fields, predicates, sources, table
from phaseline.machines.language.contact import with_contact
from phaseline.machines.language.predicates import Above, AnyBelow
from phaseline.machines.language.rules import DECLARATION, Revision, Uses, rule
from phaseline.machines.language.signals import with_signals
from phaseline.machines.language.table import Field, Row, Table, Timeout
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS


def with_facet(whole: Table, **changes: Any) -> Table:
    return replace(whole, facets=(replace(whole.facets[0], **changes), *whole.facets[1:]))


def version_of(written: Table) -> str:
    """The version that the compiled kind has."""
    return fingerprint.version_of(with_signals(with_contact(written)))


def test_each_kind_has_its_own() -> None:
    versions = [version for name, version in KINDS.versions.items() if name in KINDS]
    assert len(set(versions)) == len(versions) == len(KINDS)
    assert all(len(version) == fingerprint.LENGTH for version in versions)
    assert fingerprint.digest_of({**KINDS.versions, "other": "0"}) != KINDS.digest
    assert fingerprint.digest_of(dict(reversed(KINDS.versions.items()))) == KINDS.digest


def test_a_digest_stays_what_it_is() -> None:
    """Logs hold them: the bytes that are digested may not change, whatever the names are."""
    assert fingerprint.digest_of({"b": "2", "ü": "1"}) == fingerprint.digest_of({"ü": "1", "b": "2"}) == "f3b7839654ed"


ROWS = NODE.facets[0].rows
CHANGED: dict[str, Table] = {
    "a row gone": with_facet(NODE, rows=ROWS[:-1]),
    "rows in another order": with_facet(NODE, rows=(ROWS[1], ROWS[0], *ROWS[2:])),
    "another target": with_facet(NODE, rows=(replace(ROWS[0], to="Running"), *ROWS[1:])),
    "a guard gone": with_facet(NODE, rows=(replace(ROWS[0], when=()), *ROWS[1:])),
    "another guard": with_facet(NODE, rows=(replace(ROWS[0], when=(Above("cluster", ("Running",)),)), *ROWS[1:])),
    "a standing condition less": with_facet(NODE, sticky=("Balance",)),
    "another order of conditions": with_facet(NODE, order=NODE.facets[0].order[::-1]),
    "a label less": with_facet(NODE, labels=NODE.facets[0].labels[:-1]),
    "an intent less": replace(NODE, intents=NODE.intents[1:]),
    "no parent": replace(NODE, parent=None),
    "another facet's name": with_facet(NODE, name="state"),
    "a view gone": with_facet(COMPONENT, views=()),
    "a field gone": replace(COMPONENT, fields={}),
}


@pytest.mark.parametrize("what", CHANGED)
def test_another_behaviour_is_another_version(what: str) -> None:
    changed = CHANGED[what]
    assert version_of(changed) != KINDS[changed.kind].version


def test_texts_do_not_count() -> None:
    labels = tuple(replace(label, en="New", others={"zh": "新", "de": "Neu"}) for label in NODE.facets[0].labels)
    assert version_of(replace(with_facet(NODE, labels=labels), doc="Other words.")) == KINDS["node"].version
    told = tuple(replace(field, doc="Other words.") for field in EMCO_RESOURCE.attributes)
    assert version_of(replace(EMCO_RESOURCE, attributes=told)) == KINDS["emco_resource"].version


def test_what_is_left_at_its_default_does_not_count() -> None:
    assert fingerprint.canonical(replace(ROWS[0], sets=None)) == fingerprint.canonical(ROWS[0])
    assert "sets" not in fingerprint.canonical(Row(("Off",), "on", "On"))[1]
    assert fingerprint.canonical(Row(("Off",), "on", "On", sets="Dim"))[1]["sets"] == "Dim"


def test_a_set_counts_by_what_it_holds() -> None:
    assert fingerprint.canonical({"b", "c", "a"}) == ["a", "b", "c"]
    assert fingerprint.canonical(frozenset({2, "a", None})) == ["a", 2, None]


# ---- the words of the language


LANGUAGE = {
    each
    for module in (fields, predicates, sources, table)
    for each in vars(module).values()
    if isinstance(each, type) and each.__module__ == module.__name__ and is_dataclass(each)
}


def test_every_class_and_field_of_the_language_has_a_word() -> None:
    assert set(fingerprint.WORDS) == LANGUAGE
    for each, word in fingerprint.WORDS.items():
        assert list(word.fields) == [field.name for field in dataclasses.fields(each)], each
        said = [name for name in word.fields.values() if name is not None]
        assert len(set(said)) == len(said), each
    assert len({word.name for word in fingerprint.WORDS.values()}) == len(fingerprint.WORDS)


def test_the_words_are_what_versions_are_made_of() -> None:
    """A word that changes here changes every version: that is never needed, so it is spelled out once more."""
    made = Row(("Off",), "on", "On", condition="Lit", when=(AnyBelow("room", "lamp", ("On",)),))
    assert fingerprint.canonical(made) == [
        "row", {
            "source": ["Off"], "trigger": "on", "to": "On", "condition": "Lit",
            "when": [["any_below", {"of": "room", "kind": "lamp", "phases": ["On"]}]],
        },
    ]  # fmt: skip
    assert fingerprint.canonical(Timeout("On", "off", 3.0)) == [
        "timeout", {"phase": "On", "trigger": "off", "seconds": 3.0},
    ]  # fmt: skip
    assert fingerprint.canonical(Field("size", str, "how large")) == ["field", {"name": "size", "type": "string"}]


def test_another_name_of_a_class_or_a_field_in_python_changes_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Line:
        """`Row` under other names; what it gained later is at its default."""

        source: tuple[str, ...]
        trigger: str
        to: str
        condition: str | None = None
        later: tuple[str, ...] = ()

    row, line = Row(("Off",), "on", "On", condition="Lit"), Line(("Off",), "on", "On", condition="Lit")
    words = {"source": "source", "trigger": "trigger", "to": "to", "condition": "condition", "later": "later"}
    monkeypatch.setattr(fingerprint, "WORDS", {**fingerprint.WORDS, Line: fingerprint.Word("row", words)})
    assert fingerprint.canonical(line) == fingerprint.canonical(row)
    assert fingerprint.canonical(replace(line, later=("x",))) != fingerprint.canonical(row)


def test_the_language_has_a_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    before = KINDS["node"].version
    monkeypatch.setattr(fingerprint, "LANGUAGE", fingerprint.LANGUAGE._replace(number=0))
    assert version_of(NODE) != before


# ---- rules that are code


def named(code: str, name: str, revision: int = 1, uses: Uses = ()) -> Any:
    """A rule whose code stands in a module of that name, `package.module:function`."""
    module, _, function = code.partition(":")

    def written(attributes: Any, _: Any) -> Any:
        return attributes

    written.__module__, written.__qualname__, written.__name__ = module, function, function
    return rule(name, revision=revision, uses=uses)(written)


def with_rule(code: Any) -> str:
    return fingerprint.version_of(with_facet(NODE, rows=(replace(ROWS[0], computes=code), *ROWS[1:])))


def test_where_a_rule_stands_and_what_python_calls_it_does_not_count() -> None:
    first, moved = named("acme.rules:cool", "acme.cool"), named("acme.machines.cooling:cooled_down", "acme.cool")
    assert with_rule(first) == with_rule(moved)
    assert with_rule(first) != KINDS["node"].version
    assert with_rule(named("acme.rules:cool", "acme.cold")) != with_rule(first)


def test_a_revision_counts_and_so_does_that_of_what_a_rule_uses() -> None:
    first, second = Revision("acme.weather", 1), Revision("acme.weather", 2)
    versions = [
        with_rule(named("m:f", "acme.cool")),
        with_rule(named("m:f", "acme.cool", 2)),
        with_rule(named("m:f", "acme.cool", uses=(first,))),
        with_rule(named("m:f", "acme.cool", uses=(second,))),
        with_rule(named("m:f", "acme.cool", uses=(first, Revision("acme.clock", 1)))),
    ]
    assert len(set(versions)) == len(versions)
    clock = Revision("acme.clock", 1)
    assert with_rule(named("m:f", "acme.cool", uses=(clock, first))) == with_rule(
        named("m:f", "acme.cool", uses=(first, lambda: (clock,)))
    )


def predicate(name: str, revision: int = 1) -> Any:
    @rule("acme.is_odd", revision=revision)
    @dataclass(frozen=True)
    class Odd:
        phase: str
        also: str | None = None

        def holds(self, *_: Any) -> bool:
            return True

        def text(self) -> str:
            return "it is odd"

    Odd.__name__ = Odd.__qualname__ = name
    return Odd


def test_a_predicate_with_code_of_its_own_counts_by_its_declaration_and_its_fields() -> None:
    def version(made: Any) -> str:
        return fingerprint.version_of(with_facet(NODE, rows=(replace(ROWS[0], when=(made,)), *ROWS[1:])))

    first = version(predicate("Odd")("Running"))
    assert version(predicate("Strange")("Running")) == first
    assert len({first, version(predicate("Odd")("Failed")), version(predicate("Odd", 2)("Running"))}) == 3


def test_what_has_no_stable_name_has_no_version() -> None:
    def cool(attributes: Any, _: Any) -> Any:
        return attributes

    with pytest.raises(
        fingerprint.Undeclared, match="is the function cool, which declares no name and revision: write"
    ):
        with_rule(cool)


@pytest.mark.parametrize(
    ("name", "revision", "problem"),
    [
        ("cool", 1, "rule name 'cool': write lower-case words with dots between them, for example 'acme.cool'"),
        ("Acme.cool", 1, "rule name 'Acme.cool'"),
        ("acme.cool", 0, "rule acme.cool: the revision must be a whole number of 1 or more, found 0"),
        ("acme.cool", "1", "rule acme.cool: the revision must be a whole number of 1 or more, found '1'"),
    ],
)
def test_a_declaration_that_cannot_be(name: str, revision: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        rule(name, revision=revision)


def test_the_libraries_of_kubernetes_count_where_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = vars(observe.read_observation)[DECLARATION]
    newer = declared._replace(uses=(HEALTH._replace(number=1_000), *declared.uses[1:]))
    assert declared.uses[0] == HEALTH
    before = KINDS.versions
    monkeypatch.setitem(observe.read_observation.__dict__, DECLARATION, newer)
    versions = Kinds(BUILT_IN).versions
    assert [kind for kind in versions if versions[kind] != before[kind]] == ["resource"]


class Unnamed:
    """A predicate that declares nothing."""


ADVICE = "write @rule('<yours>.{}', revision=1) above {} (from phaseline.tables import rule)"


@pytest.mark.parametrize(("value", "says"), [
    (list, "is the type list: write the type of its items, and many=True"),
    (bytes, "is the type bytes: write one of str, int, float, bool, dict"),
    (lambda: None, "is a lambda, which cannot declare a name: write a function, with @rule('<yours>.<name>', revision=1) above it"),
    (with_facet, f"is the function with_facet, which declares no name and revision: {ADVICE.format('with_facet', 'the function')}"),
    (Unnamed(), f"is an instance of Unnamed, which declares no name and revision: {ADVICE.format('unnamed', 'its class')}"),
], ids=["a list", "a type", "a lambda", "a function", "an instance"])  # fmt: skip
def test_what_is_undeclared_is_named_with_what_to_write(value: object, says: str) -> None:
    assert [*fingerprint.undeclared([{"name": value}])] == [f"the table[0]['name'] {says}"]


def test_what_is_undeclared_is_named_by_the_field_that_holds_it() -> None:
    row = Row(("Off",), "on", "On", when=(predicate("Odd")(with_facet),), computes=cast("Any", with_facet))
    places = [problem.partition(" is the function with_facet")[0] for problem in fingerprint.undeclared(row)]
    assert places == ["when[0].phase", "computes"]
    told = Field("size", str, "how large", known=lambda _: ())
    assert [*fingerprint.undeclared((told, Row(("Off",), "on", "On", computes=named("m:f", "acme.cool"))))] == []


def test_rules_are_found_wherever_they_stand() -> None:
    cool, odd = named("m:f", "acme.cool"), predicate("Odd")("Running")
    row = Row(("Off",), "on", "On", given={"a": cool}, when=(odd,), computes=cool)
    assert [*fingerprint.rules_of(({"b": [cool]}, {odd}, row))] == [cool, odd, cool, odd, cool]

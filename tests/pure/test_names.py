"""How names may be written on the command line, and which name a wrong one is taken for."""

import click
import pytest
from click.shell_completion import CompletionItem

from phaseline.engine.surfaces.cli import cli, names
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import NameUnknown, did_you_mean


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("node", "node"), ("nodes", "node"), ("Node", "node"), ("node-pool", "node_pool"), ("NODEPOOLS", "node_pool"),
        ("rsync_resources", "rsync_resource"), ("bundle-deployments", "bundle_deployment"),
        ("claster", "claster"), ("", ""), ("s", "s"),
    ],
)  # fmt: skip
def test_a_kind_may_be_written_in_any_case_and_in_the_plural(word: str, meant: str) -> None:
    assert names.KIND.convert(word, None, None) == meant


def test_every_kind_and_state_is_its_own_spelling() -> None:
    """No kind, state or trigger is taken for another one."""
    for kind in (kinds := installed()).values():
        context = click.Context(cli, info_name="phaseline")
        context.params["kind"] = kind.name
        assert names.KIND.convert(kind.name, None, None) == kind.name
        for phase in (phase for machine in kind.machines for phase in machine.phases[1:]):
            assert names.state_spelt(phase, kinds, kind.name) == phase
            assert names.state_spelt(phase.upper(), kinds, kind.name) == phase
        for trigger in kind.roles:
            assert names.TRIGGER.convert(trigger, None, context) == trigger


@pytest.mark.parametrize(
    ("name", "known", "question"),
    [
        ("claster", ["cluster", "node"], " (did you mean cluster?)"),
        ("CLUSTR", ["cluster", "node"], " (did you mean cluster?)"),
        ("pod", ["cluster", "node"], ""),
        ("x" * 100_000, ["cluster"], ""),
    ],
)
def test_a_wrong_name_is_answered_with_a_similar_one(name: str, known: list[str], question: str) -> None:
    assert did_you_mean(name, known) == question


def test_an_unknown_name_is_said_with_the_known_ones() -> None:
    error = NameUnknown.among("kind", "claster", ["cluster", "node", "node"])
    assert str(error) == "there is no kind 'claster' (did you mean cluster?): choose one of cluster, node"


def test_of_many_known_names_those_are_said_that_are_like_the_wrong_one() -> None:
    known = ["Running", "Ruined", *(f"State{number}" for number in range(50))]
    near = "there is no state 'Runing' (did you mean Running?): choose one of Running, Ruined (50 others)"
    assert str(NameUnknown.among("state", "Runing", known)) == near
    assert str(NameUnknown.among("state", "?", known)).endswith("State16, State17 (32 others)")


@pytest.mark.parametrize(
    ("type_", "kind", "typed", "offered"),
    [
        (names.KIND, None, "no", ["node_pool", "node"]),
        (names.KIND, None, "NO", ["node_pool", "node"]),
        (names.TRIGGER, "node", "cor", ["cordon"]),
        (names.TRIGGER, "node", "owner", []),
        (names.STATE, "cluster", "St", ["Starting", "Stopped"]),
    ],
)
def test_a_shell_is_offered_names_of_the_kind_before(
    type_: names.NameType, kind: str | None, typed: str, offered: list[str]
) -> None:
    context = click.Context(cli, info_name="phaseline")
    context.params["kind"] = kind
    found: list[CompletionItem] = type_.shell_complete(context, click.Option(["--x"]), typed)
    assert [item.value for item in found] == offered

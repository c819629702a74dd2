"""Every state that can arise has a name in both languages, and only a Running [Ok] node takes pods.

Belongs here: the choice of labels. Does not: the tables' own wording beyond samples the spec spells out, which
`test_docs_edge_hosting` compares with the page.
"""

from collections.abc import Iterator

import click
import pytest

from phaseline.engine.surfaces.cli.options import LanguageType
from phaseline.machines.compiler import labels
from phaseline.machines.compiler.conditions import state_shown
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.language_tags import of_terminal
from phaseline.machines.language.table import Facet, Label
from phaseline.schemas.records import State
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

NODE = KINDS["node"]


def states(kind: Kind, index: int) -> Iterator[State]:
    """Every state a facet can show: its bases, and what each view makes of them."""
    machine = kind.machines[index]
    for base in kind.bases[index]:
        yield base
        for view in machine.views[base.phase]:
            yield state_shown(machine.facet, view, base)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize("language", labels.languages(KINDS.values()))
def test_every_reachable_state_has_a_label(kind: Kind, language: labels.Language) -> None:
    for index, facet in enumerate(kind.table.facets):
        found = {state: labels.label(facet, state) for state in states(kind, index)}
        assert len(found) > len(kind.machines[index].phases) - 1
        assert [str(state) for state, label in found.items() if label is None] == []
        assert all(labels.label_of(facet, state, language).strip() for state in found)


@pytest.mark.parametrize(
    ("kind", "state", "zh", "en"),
    [
        ("cluster", State("Running", ("Ok",)), "运行中", "Running"),
        ("cluster", State("Stopped", ("Balance",)), "欠费关停", "Stopped (overdue)"),
        ("cluster", State("Failed", ("Balance",)), "创建失败", "Create failed"),
        ("cluster", State("Failed", ("ResourceCleanupFailed",)), "删除失败", "Delete failed"),
        ("node_pool", State("Failed", ("ClusterNotRunning",)), "异常", "Abnormal"),
        ("node_pool", State("Scaling", ("Progressing",)), "伸缩中", "Scaling"),
        ("node", State("Failed", ("NotReady", "Balance")), "异常（欠费关停）", "Abnormal (overdue)"),
        ("node", State("Failed", ("Unknown", "InitializeFailed")), "创建失败", "Create failed"),
        ("node", State("Failed", ("Balance", "ResourceCleanupFailed")), "移除失败", "Remove failed"),
        ("node", State("Running", ("Unschedulable",)), "运行中", "Running (unschedulable)"),
        ("node", State("Stopped", ("Unschedulable",)), "已停止", "Stopped"),
        ("node", State("Deleting", ("Balance", "Progressing")), "移除中", "Removing"),
        ("component", State("Failed", ("Degraded", "Unknown")), "异常", "Abnormal"),
        ("component", State("Failed", ("Unknown", "Degraded")), "失败", "Failed"),
        ("component", State("Deleted"), "已删除", "Deleted"),
        ("component", State("Absent"), "未知", "Unknown"),
    ],
)
def test_labels_are_the_specs(kind: str, state: State, zh: str, en: str) -> None:
    assert labels.label_of(KINDS[kind], state, "zh") == zh
    assert labels.label_of(KINDS[kind], state, "en") == en


def test_a_phase_without_a_label_is_called_by_its_name() -> None:
    assert labels.label_of(NODE, State("Frozen", ("Ok",)), "zh") == "Frozen"


def test_only_a_running_node_without_limits_takes_pods() -> None:
    facet = NODE.table.facets[0]
    takes = [state for state in states(NODE, 0) if labels.schedulable(facet, state)]
    assert takes == [State("Running", ("Ok",))]
    assert labels.schedulable(facet, State("Deleted")) is False


@pytest.mark.parametrize("kind", ["cluster", "node_pool", "component"])
def test_other_kinds_have_nothing_to_say_about_pods(kind: str) -> None:
    assert labels.schedulable(KINDS[kind].table.facets[0], State("Running", ("Ok",))) is None


# ---- languages

OPEN = Label("Open", None, "Open", {"zh": "开", "zh-Hant": "開", "pt-BR": "Aberto", "de": "Offen"})
DOOR = Facet("phase", labels=(OPEN,), rows=())


@pytest.mark.parametrize(
    ("language", "called"),
    [
        ("en", "Open"), ("en-GB", "Open"), ("de", "Offen"), ("de-AT", "Offen"), ("DE", "Offen"), ("fr", "Open"),
        ("zh", "开"), ("zh-CN", "开"), ("zh-Hant", "開"), ("zh-Hant-TW", "開"), ("pt-BR", "Aberto"), ("pt", "Aberto"),
    ],
)  # fmt: skip
def test_a_label_is_in_the_language_that_fits_best_or_in_english(language: str, called: str) -> None:
    assert labels.label_of(DOOR, State("Open"), language) == called


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "sr_RS@latin"}, "sr-RS"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "", "LC_ALL": ""}, "en"),
    ],
)
def test_the_language_of_a_terminal(environment: dict[str, str], language: str) -> None:
    assert of_terminal(environment) == language


def test_the_languages_of_kinds_are_english_and_those_of_the_labels() -> None:
    assert labels.languages(KINDS.values()) == ("en", "zh")


@pytest.mark.parametrize(("written", "tag"), [("zh", "zh"), ("pt-BR", "pt-BR"), ("zh_CN.UTF-8", "zh-CN")])
def test_the_command_takes_a_tag_or_a_locale(written: str, tag: str) -> None:
    assert LanguageType().convert(written, None, None) == tag


def test_the_command_refuses_what_is_no_language() -> None:
    with pytest.raises(click.UsageError, match="'english please' is no language: write a tag such as en, zh or pt-BR"):
        LanguageType().convert("english please", None, None)
    [chinese] = LanguageType().shell_complete(click.Context(click.Command("x")), click.Option(["--lang"]), "z")
    assert chinese.value == "zh"

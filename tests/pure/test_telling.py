"""Explanations in words (engine/log/explain/telling): the root of a state, and the whole as plain text.

Belongs here: what is said. Does not: what is explained (`test_why`), how it is drawn (`test_why_drawing`).
"""

from typing import Any

import msgspec
import pytest

from phaseline.engine.log.explain.model import as_map
from phaseline.engine.log.explain.telling import root_of
from phaseline.schemas.errors import InvalidInput, NameUnknown
from tests.support import edge_worlds
from tests.support.explanations import explanation
from tests.support.strategies import History, event, play

OWES = "invoice 4711 is 30 days late"
RUNNING = [
    event("cluster", "adopt", "c", {"phase": "Running"}),
    event("node_pool", "adopt", "c/p", {"phase": "Running"}),
    event("node", "adopt", "c/p/n", {"phase": "Running"}),
]


def told(*more: Any) -> History:
    return play(edge_worlds.KINDS, [*RUNNING, *more])


def test_the_root_of_what_a_view_shows_is_the_event_that_it_comes_from() -> None:
    history = told(event("cluster", "overdue", "c", {"message": OWES}))
    (pool,) = explanation(history, "node_pool", "c/p").facets
    root = root_of(pool)
    assert root is not None
    assert root.record.entity.id == "c"
    assert root.text.startswith("overdue by ")
    assert root.text.endswith(f": {OWES}")


def test_programs_get_the_root_of_each_facet() -> None:
    history = told(event("cluster", "overdue", "c", {"message": OWES}))
    (pool,) = as_map(explanation(history, "node_pool", "c/p"))["facets"]
    assert (pool["root"]["kind"], pool["root"]["id"], pool["root"]["message"]) == ("cluster", "c", OWES)
    (node,) = as_map(explanation(told(event("node", "not_ready", "c/p/n")), "node", "c/p/n"))["facets"]
    assert (node["root"]["trigger"], node["root"]["state"], node["root"]["message"]) == ("not_ready", "Failed", None)


def test_of_several_causes_the_last_one_is_the_root() -> None:
    failed = event("node", "cleanup_failed", "c/p/n", {"message": "the volume API timed out"})
    history = told(event("node", "overdue", "c/p/n"), event("node", "delete", "c/p/n"), failed)
    root = root_of(explanation(history, "node", "c/p/n").facets[0])
    assert root is not None
    assert (root.record.trigger, root.message) == ("cleanup_failed", "the volume API timed out")


def test_the_text_has_the_root_first_then_the_view_and_the_base_last() -> None:
    history = told(event("cluster", "overdue", "c", {"message": OWES}))
    first, *lines = str(explanation(history, "node_pool", "c/p")).splitlines()
    assert first.startswith("node_pool c/p is Failed [ClusterNotRunning] since ")
    assert lines[0].startswith("  root cause: cluster c: overdue by ")
    assert lines[0].endswith(f": {OWES}")
    base = next(at for at, one in enumerate(lines) if one.strip().startswith("its base is Running"))
    shown = next(at for at, one in enumerate(lines) if one.strip().startswith("shown while"))
    assert 0 < shown < base
    assert not [one for one in lines[base + 1 :] if OWES in one]
    assert [one for one in lines[shown:base] if OWES in one]


def test_a_state_that_its_own_event_brought_has_no_root_elsewhere() -> None:
    text = str(explanation(told(event("node", "not_ready", "c/p/n", {"message": "no lease"})), "node", "c/p/n"))
    assert "root cause" not in text
    assert text.splitlines()[1].strip().startswith("node c/p/n: not_ready by ")
    assert text.splitlines()[1].endswith(": no lease")


class Printer:
    """That of a notebook."""

    def __init__(self) -> None:
        self.shown = ""

    def text(self, text: str) -> None:
        self.shown += text


def test_notebooks_show_what_print_shows() -> None:
    history = told(event("node", "not_ready", "c/p/n", {"reason": "KubeletStopped"}))
    why = explanation(history, "node", "c/p/n")
    [last] = [record for cause in why.facets[0].causes for record in cause.records]
    for shown in (why, why.entity, last):
        printer = Printer()
        shown._repr_pretty_(printer, False)
        assert printer.shown == str(shown)
    assert str(why.entity) == "node c/p/n: phase Failed [NotReady]"
    assert str(last) == "node c/p/n: phase Running [Ok] -> Failed [NotReady] by not_ready: KubeletStopped"


def test_an_entity_with_one_facet_has_its_state() -> None:
    node = explanation(told(), "node", "c/p/n").entity
    assert node.state == node.facet("phase").state == node.facets[0].state
    with pytest.raises(NameUnknown, match=r"no facet of the node c/p/n 'fase': choose one of phase"):
        node.facet("fase")
    several = msgspec.structs.replace(node, names=("phase", "health", "contact"), facets=node.facets * 3)
    with pytest.raises(InvalidInput, match=r'several facets \(phase, health\).*entity\.facet\("phase"\)\.state'):
        several.state  # noqa: B018

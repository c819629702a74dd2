"""Asks EMCO's status query about a history."""

from typing import Any

from phaseline.engine.products.emco import design_shape, emco_shape, query
from phaseline.engine.products.emco.query import read
from phaseline.engine.products.emco.select import StatusSelection, select
from phaseline.schemas.records import Transition
from tests.support.emco_history import GROUP, EmcoHistory


def chosen(life: EmcoHistory, **parameters: Any) -> tuple[StatusSelection, query.Query]:
    asked = read(parameters)
    found = select(life.history.tree, GROUP, asked, items=asked.output != "summary" or asked.shape == "emco")
    assert found is not None
    return found, asked


def ask(life: EmcoHistory, **parameters: Any) -> dict[str, Any]:
    found, asked = chosen(life, **parameters)
    if asked.shape == "source":
        return design_shape.answer(found, asked, {})
    history = [r for s in life.history.steps for r in s.records if isinstance(r, Transition) and r.entity.id == GROUP]
    return emco_shape.answer(found, asked, {}, history)

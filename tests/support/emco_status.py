"""EMCO's status query, asked of a history."""

from typing import Any

from phaseline.engine.status import emco_shape, query, source_shape
from phaseline.engine.status.query import read
from phaseline.engine.status.selection import Selection, select
from phaseline.schemas.records import Transition
from tests.support.emco_history import GROUP, EmcoHistory


def chosen(life: EmcoHistory, **parameters: Any) -> tuple[Selection, query.Query]:
    asked = read(parameters)
    found = select(life.history.tree, GROUP, asked, items=asked.output != "summary" or asked.shape == "emco")
    assert found is not None
    return found, asked


def ask(life: EmcoHistory, **parameters: Any) -> dict[str, Any]:
    found, asked = chosen(life, **parameters)
    if asked.shape == "source":
        return source_shape.answer(found, asked, {})
    history = [r for s in life.history.steps for r in s.records if isinstance(r, Transition) and r.entity.id == GROUP]
    return emco_shape.answer(found, asked, {}, history)

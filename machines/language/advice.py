"""What to do about states: the texts of a product's labels in one table, by condition or phase.

Belongs here: giving labels their advice. Does not: the texts (the package of each product), choosing a label
(`compiler.labels`).
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from phaseline.machines.language.language_tags import ENGLISH
from phaseline.machines.language.table import Label
from phaseline.schemas.records import State

Advice = Mapping[str, Mapping[str, str]]
"""By a state (`Failed [StockOut]`), a condition or a phase: what to do, by language."""


def advice(*rows: tuple[str, str, str]) -> Advice:
    """The table with these rows: a state, a condition or a phase; what to do in English and in Chinese."""
    return {name: {ENGLISH: english, "zh": chinese} for name, english, chinese in rows}


def advised(texts: Advice, labels: Iterable[Label]) -> tuple[Label, ...]:
    """The labels, each with its advice where there is one: that of its state before that of its condition or phase."""
    return tuple(replace(one, advice=_of(texts, one)) for one in labels)


def _of(texts: Advice, label: Label) -> Mapping[str, str]:
    state = State(label.phase, (label.condition,) if label.condition else ())
    names = (str(state), label.condition or "", label.phase)
    return next((texts[name] for name in names if name in texts), label.advice)

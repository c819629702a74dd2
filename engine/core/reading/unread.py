"""Fields of an event's data that nothing reads. Pure.

What a table declares for a trigger is all that anything reads of its data: no rule gets another field. A request with
one is rejected, because it asks for something that would not happen. An observation is taken without it.
Belongs here: finding such fields, naming them. Does not: the records that name them (`noting`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.predicates import or_list
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.errors import did_you_mean
from phaseline.schemas.records import Record, Rejection

NOTHING_READS = "nothing reads "
"""How the sentence begins that names such fields."""
MOST = 16
"""The most fields that a record names. It gives the number of the others."""
LONGEST = 64
"""The most characters of a name of a field in a record."""


def without_unread(kind: Kind, trigger: str, data: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The data that something reads, and the names of the other fields. Raises `Invalid` if a request has any."""
    declared = kind.declared.get(trigger)
    if declared is None or declared.issuperset(data):
        return data, ()
    unread = tuple(sorted(data.keys() - declared))
    if kind.roles[trigger] == "intent":
        raise Invalid(f"{said(unread, kind, trigger)}; {trigger} of {kind.name} has {', '.join(sorted(declared))}")
    return {name: value for name, value in data.items() if name in declared}, unread


def said(unread: Iterable[str], kind: Kind | None, trigger: str) -> str:
    """`nothing reads data.reson (did you mean reason?), data.zone`. kind: None if it is not known."""
    named = (f"data.{name}{'' if kind is None else _meant(name, kind, trigger)}" for name in named_only(unread))
    return f"{NOTHING_READS}{', '.join(named)}"


def _meant(name: str, kind: Kind, trigger: str) -> str:
    """What was probably meant: what an attribute is called now; who else may set it; then a similar name."""
    declared, field = kind.declared.get(trigger, ()), kind.table.earlier_names.get(name)
    if field and field.name in declared:
        return f" (did you mean {field.name}?)"
    others = [
        one for one, names in kind.declared.items() if name in names and kind.roles[one] == kind.roles.get(trigger)
    ]
    if others and name in kind.table.attribute_names:
        return f" ({or_list(tuple(others))} may set it)"
    return did_you_mean(name, declared)


def says_unread(record: Record) -> bool:
    """Whether a record says that its event has a field that nothing reads."""
    return f"{NOTHING_READS}data." in record.message if isinstance(record, Rejection) else bool(record.noted.unread)


def named_only(unread: Iterable[str]) -> tuple[str, ...]:
    """The names that a record has room for, each cut to its room; at the end how many others there are."""
    names = [name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..." for name in unread]
    more = len(names) - MOST
    return (*names[:MOST], f"and {more:,} more") if more > 0 else tuple(names)

"""A module with the triggers of kinds, which editors complete and type checkers know.

Belongs here: its text, for the kinds that come with Phaseline (`phaseline.triggers`) and for those of packages
(`phaseline kinds show --format python`). Does not: writing it (`surfaces.generate`), the tables.
"""

from collections.abc import Iterable, Iterator
from keyword import iskeyword

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.docs import wording

OWN = '''\
"""The triggers of kinds as names: `publish(*cluster.create, "c1")`. Editors complete them, type checkers know them.

Belongs here: the kinds that come with Phaseline. Does not: other kinds, of which `phaseline kinds show KIND --format
python` prints such a module. Written by `python -m phaseline.engine.surfaces.generate` from their tables.
"""

from typing import NamedTuple


class Trigger(NamedTuple):
    """A kind and one of its triggers, which are the first arguments of `publish`, `publish_and_wait`, `dry_run`."""

    kind: str
    trigger: str

'''
OTHERS = '''\
"""The triggers of kinds as names: `publish(*{first}, ...)`.

Written by `phaseline kinds show --format python`.
"""

# ruff: noqa: N801  # classes are called as the kinds are

from phaseline.triggers import Trigger
'''
GROUPS = {"intent": "requests", "observation": "observations"}


def module(kinds: Iterable[Kind], *, own: bool = False) -> str:
    """The text of the module. own: of the kinds that come with Phaseline."""
    found = sorted(kinds, key=lambda kind: kind.name)
    first = next(
        f"{kind.name}.{_name(trigger)}" for kind in found for trigger in _offered(kind, "intent", "observation")
    )
    text = (OWN if own else OTHERS).replace("{first}", first)
    listed = [
        f'    "{name}",\n' for name in sorted((*(["Trigger"] if own else []), *(_name(one.name) for one in found)))
    ]
    classes = "".join("\n\n" + "\n".join(_class(kind)) + "\n" for kind in found)
    return f"{text}\n__all__ = [\n{''.join(listed)}]\n{classes}"


def _class(kind: Kind) -> Iterator[str]:
    yield f"class {_name(kind.name)}:"
    yield f'    """Ids are {wording.id_shape(kind.table.id)}."""'
    for role, group in GROUPS.items():
        if triggers := _offered(kind, role):
            yield f"\n    # {group}"
            yield from (f'    {_name(one)} = Trigger("{kind.name}", "{one}")' for one in triggers)


def _offered(kind: Kind, *roles: str) -> list[str]:
    """The triggers that publishers may send."""
    return sorted(trigger for trigger, role in kind.roles.items() if role in roles)


def _name(word: str) -> str:
    return f"{word}_" if iskeyword(word) else word

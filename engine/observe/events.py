"""What objects say, before it is an event: of whom, which trigger, with which data.

Belongs here: that shape, and the small questions that all sorts of objects are asked. Does not: any sort of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.machines.kubernetes.pairs import ObjectKey

Manifest = Mapping[str, Any]


class ObservedEvent(NamedTuple):
    """One thing that an object says. `about`: what makes it another one than before; the data where None."""

    kind: str
    trigger: str
    id: str
    data: Mapping[str, Any] | None = None
    about: Any = None


def part(found: Manifest, *path: str) -> Mapping[str, Any]:
    """A map in an object; empty where there is none."""
    here: Any = found
    for name in path:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else {}


def members(found: Manifest, name: str) -> Iterator[Mapping[str, Any]]:
    """The maps of a list."""
    listed = found.get(name)
    yield from (one for one in listed if isinstance(one, Mapping)) if isinstance(listed, list) else ()


def word(found: Manifest, name: str) -> str:
    """A string; empty where there is none."""
    said = found.get(name)
    return said if isinstance(said, str) else ""


def conditions(found: Manifest) -> dict[str, Mapping[str, Any]]:
    """An object's conditions by their type."""
    return {word(one, "type"): one for one in members(part(found, "status"), "conditions")}


def token(key: ObjectKey) -> str:
    """The end of a resource's id: `<group:Kind>/<namespace>/<name>`."""
    return f"{key.group or 'core'}:{key.kind}/{key.namespace or '-'}/{key.name}"


def given(**data: Any) -> dict[str, Any]:
    """Data without what is not known."""
    return {name: value for name, value in data.items() if value not in (None, "", [], {})}

"""Links from an entity on the page to other tools: dashboards, consoles, tickets.

Belongs here: reading what an operator wrote. Does not: filling in a template (`engine/surfaces/page/side.js`).
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from phaseline.schemas.errors import InvalidInput, did_you_mean

NAMES = ("kind", "id", "tree", "name")
"""What stands in a template in braces: the kind, the whole id, the first and the last part of it."""
ANY = "*"
_FIELD = re.compile(r"\{(\w*)\}")


class Link(NamedTuple):
    """A link for entities of a kind (`*`: of any): its name, and the template of the address."""

    kind: str
    name: str
    template: str


def read(texts: Iterable[str], kinds: Iterable[str]) -> tuple[Link, ...]:
    """The links in texts such as `node:Grafana=https://grafana.example/d/node?var-node={id}`. Raises `InvalidInput`."""
    return tuple(_read(text, [*kinds]) for text in texts)


def _read(text: str, kinds: list[str]) -> Link:
    head, _, template = text.partition("=")
    kind, _, name = head.partition(":")
    unknown = [one for one in _FIELD.findall(template) if one not in NAMES]
    if not kind or not name or not re.match(r"https?://[^/{]", template):
        problem = "write KIND:NAME=https://..., such as node:Grafana=https://grafana.example/d/node?var-node={id}"
    elif kind != ANY and kind not in kinds:
        problem = f"there is no kind {kind}{did_you_mean(kind, kinds)}; * is any kind"
    elif unknown:
        problem = f"{{{unknown[0]}}} is none of {', '.join(f'{{{one}}}' for one in NAMES)}"
    else:
        return Link(kind, name, template)
    raise InvalidInput.bad_parameter(name=f"--link {text[:128]!r}", problem=problem)

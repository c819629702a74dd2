"""The class of a line in a list of known signals: what consoles call a name that reporters send.

Belongs here: what an author may write, each field explained. Does not: the facet `signals` (`signals`), the names of
each product (its tables).
"""

from collections.abc import Mapping

from msgspec import field

from phaseline.machines.language.state_classes import StateClass
from phaseline.schemas.value import Value


class Signal(Value, frozen=True):
    """What consoles say of a signal. Every other name is a signal too, and is shown as it is.

    name: the name.
    en: what it is called in English.
    others: what it is called in other languages, by their tags.
    state_class: what it means while it stands.
    """

    name: str
    en: str
    others: Mapping[str, str] = field(default_factory=dict)
    state_class: StateClass = "excused"

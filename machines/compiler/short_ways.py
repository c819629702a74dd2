"""What of a table allows the core to decide an event on a short way.

Belongs here: questions about a whole table, asked once when it is compiled. Does not: the short ways themselves
(`engine.core.fast_path`, `engine.core.hearing`).
"""

from phaseline.machines.language.contact import FACET, HEARD, HEARD_AT, HEARTBEAT
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs
from phaseline.machines.language.table import Table


def hears_alone(table: Table) -> bool:
    """Whether nothing in the table of a place follows from a hearing, and no view looks at when it was heard."""
    followed = (*(one.on for one in table.cascades), *(one.on for one in table.fan_outs))
    follows = {on for triggers in (*followed, *(one.on for one in table.interprets)) for on in triggers}
    predicates = [predicate for facet in table.facets for view in facet.views for predicate in view.while_]
    timeouts = [timeout for facet in table.facets if facet is not FACET for timeout in facet.timeouts]
    return (
        follows.isdisjoint((HEARTBEAT, HEARD))
        and all(isinstance(one, Above | AnyBelow | AllBelow | AttributeIs) for one in predicates)
        and all(one.name != HEARD_AT for one in predicates if isinstance(one, AttributeIs))
        and all(HEARD_AT not in (one.restart_on, one.seconds_from) for one in timeouts)
    )


def looks_at_itself(table: Table) -> bool:
    """Whether a view depends on the entity itself, or has a predicate that does not declare what it reads."""
    predicates = [predicate for facet in table.facets for view in facet.views for predicate in view.while_]
    return not all(
        isinstance(predicate, AnyBelow | AllBelow)
        or (isinstance(predicate, Above | AttributeIs) and predicate.kind != table.kind)
        for predicate in predicates
    )


def derives_messages(table: Table) -> bool:
    """Whether transitions get a message from an attribute, or from the entities below."""
    return any(facet.message_from is not None or facet.message_names is not None for facet in table.facets)

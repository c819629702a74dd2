"""A request of somebody who may read some trees only: it is narrowed to them, or refused.

What another tree holds does not show: neither its entities nor their number, nor whether an entity exists there. The
place is the whole log's, so how much happens elsewhere can be seen.
Belongs here: narrowing by the parameters that a route has. Does not: handlers that look themselves (`CHECKED`).
"""

from collections.abc import Sequence

from phaseline.engine.surfaces.http.access.caller import READ, Caller, Role
from phaseline.schemas.errors import EntityUnknown, InvalidInput, TreeUnknown

Pairs = list[tuple[str, str]]
CHECKED = frozenset({"getRejection", "getEvent", "listMachines", "getMachine", "publishEvents", "eventOptions"})
"""Requests that show nothing of a tree, or whose handler asks `Caller.may_read`."""


def narrow(
    caller: Caller, route: str, role: Role, names: Sequence[str], given: Pairs, in_path: dict[str, str],
    *, across: bool = False,
) -> Pairs:  # fmt: skip
    """The parameters of the query, with all trees that the caller may read if it names none.

    names: of the route's parameters. across: whether its answer takes in other trees than that of its id. Raises
    `EntityUnknown` and `TreeUnknown` for what is elsewhere, `InvalidInput.not_allowed` for what takes in all trees.
    """
    if not caller.trees or role != READ or route in CHECKED:
        return given
    if "id" in in_path and not across:
        if not caller.may_read(in_path["id"]):
            _unknown(in_path)
        return given
    if "tree" not in names:
        raise InvalidInput.not_allowed(name=caller.name, needed=f"{READ} of all trees")
    named = [tree for name, tree in given if name == "tree"]
    for tree in named:
        if not caller.may_read(tree):
            raise TreeUnknown(root=tree)
    if named:
        return given
    return [*given, *(("tree", tree) for tree in sorted(caller.trees))]


def _unknown(in_path: dict[str, str]) -> None:
    if "kind" in in_path:
        raise EntityUnknown(kind=in_path["kind"], id=in_path["id"])
    raise TreeUnknown(root=in_path["id"])

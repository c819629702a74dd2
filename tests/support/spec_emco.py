"""The tables of docs/spec/emco.md, copied by hand, and a simple interpreter: what each trigger does in each world.

Belongs here: the rows of the page, and worlds small enough to try all. Does not: anything of our tables.
"""

from dataclasses import dataclass, replace
from itertools import product

LIVE = "any live"
CONTEXT_ROWS = (
    # trigger                  from (states; the last: the base)                                                  base becomes    fires
    ("create",                "∅ Deleted",                                                                        "Created",      None),
    ("instantiate",           "Created Instantiating Instantiated InstantiateFailed",                             "Instantiate",  "instantiate"),
    ("terminate",             "Instantiating",                                                                    "PreTerminate", None),
    ("terminate",             "Instantiated InstantiateFailed Terminating TerminateFailed Updating Updated UpdateFailed", "Terminate", "terminate"),
    ("terminate",             "PreTerminate",                                                                     "same",         None),
    ("update",                "Instantiated",                                                                     "Update",       "leave"),
    ("update_from",           "Created Updated",                                                                  "Instantiate",  "instantiate"),
    ("stop",                  LIVE,                                                                               "same",         None),
    ("resume",                LIVE,                                                                               "same",         None),
    ("instantiation_stopped", "PreTerminate",                                                                     "Terminate",    "terminate"),
)  # fmt: skip
RESOURCE_ROWS = (
    # trigger       from (bases)                  while                                          base becomes
    ("add",         "∅ Deleted Terminated",       None,                                          "Pending"),
    ("applied",     "Pending Retrying",           None,                                          "Applied"),
    ("failed",      "Pending Retrying",           None,                                          "Failed"),
    ("failed",      "Applied",                    "its context is not Instantiated",             "Failed"),
    ("retrying",    "Pending",                    None,                                          "Retrying"),
    ("retrying",    "Applied",                    "its context is asked Terminate Update",       "Retrying"),
    ("terminated",  LIVE,                         "its context is asked Terminate PreTerminate Update", "Terminated"),
    ("deleted",     LIVE,                         "its context is asked Terminate PreTerminate Update", "Terminated"),
    ("instantiate", "Failed Retrying Terminated", None,                                          "Pending"),
    ("terminate",   "Failed Retrying",            None,                                          "Pending"),
    ("leave",       "Failed Retrying",            None,                                          "Pending"),
)  # fmt: skip
EMCO_ROWS = (
    # trigger        whose     from                                                      to
    ("create",       "any",    "∅ Deleted",                                              "Created"),
    ("approve",      "groups", "Created Approved Terminated",                            "Approved"),
    ("instantiate",  "groups", "Approved Terminated TerminateStopped",                   "Instantiated"),
    ("apply",        "others", "Created Applied Terminated TerminateStopped",            "Applied"),
    ("update",       "groups", "Instantiated InstantiateStopped",                        "Instantiated"),
    ("rollback",     "groups", "Instantiated InstantiateStopped",                        "Instantiated"),
    ("terminate",    "any",    "Instantiated Applied InstantiateStopped",                "Terminated"),
    ("stop",         "any",    "Instantiated Applied",                                   "InstantiateStopped"),
    ("stop",         "any",    "Terminated",                                             "TerminateStopped"),
    ("delete",       "any",    "Created Approved Terminated TerminateStopped",           "Deleted"),
)  # fmt: skip
RESOURCE_BASES = ("Pending", "Applied", "Failed", "Retrying", "Terminated")
CONTEXT_BASES = ("Created", "Instantiate", "PreTerminate", "Terminate", "Update")
REACHES = ("Unknown", "Available", "Unreachable")


@dataclass(frozen=True)
class Resource:
    base: str
    leaving: bool = False


@dataclass(frozen=True)
class World:
    """A context, stopped or not, with resources that are on one cluster."""

    base: str
    stopped: bool
    reach: str
    resources: tuple[Resource, ...]

    def resource_state(self, resource: Resource) -> str:
        away = self.reach == "Unreachable"
        if away and (resource.base == "Pending" or (resource.base == "Applied" and self.base == "Terminate")):
            return "Retrying"
        return resource.base

    @property
    def state(self) -> str:
        """The state of the context (docs/spec/emco.md, App context)."""
        states = [self.resource_state(found) for found in self.resources]
        leaving = [self.resource_state(found) for found in self.resources if found.leaving]
        if self.base == "Instantiate":
            return _view(states, "Failed", "Applied", ("InstantiateFailed", "Instantiated", "Instantiating"))
        if self.base == "Terminate":
            return _view(states, "Failed", "Terminated", ("TerminateFailed", "Terminated", "Terminating"))
        if self.base == "Update":
            return _view(leaving, "Failed", "Terminated", ("UpdateFailed", "Updated", "Updating"))
        return self.base


def _view(states: list[str], bad: str, good: str, shown: tuple[str, str, str]) -> str:
    if bad in states:
        return shown[0]
    return shown[1] if all(state == good for state in states) else shown[2]


def worlds() -> list[World]:
    """All worlds with at most two resources."""
    one = [Resource(base, leaving) for base in RESOURCE_BASES for leaving in (False, True)]
    some = [(), *((found,) for found in one), *product(one, one)]
    return [World(*parts) for parts in product(CONTEXT_BASES, (False, True), REACHES, some)]


def ask_context(world: World, trigger: str, kept: tuple[bool, ...]) -> World | None:
    """The world after a trigger at the context; None if it is rejected.

    kept: for each resource, whether the new context has it too.
    """
    if world.stopped and trigger not in ("stop", "resume", "instantiation_stopped"):
        return None
    for name, start, becomes, fires in CONTEXT_ROWS:
        judged = world.base if name == "instantiation_stopped" else world.state
        if name == trigger and (start == LIVE or judged in start.split()):
            after = replace(world, base=world.base if becomes == "same" else becomes)
            if trigger in ("stop", "resume"):
                after = replace(after, stopped=trigger == "stop")
            told = [fires if fires != "leave" or not kept[i] else None for i in range(len(world.resources))]
            return replace(after, resources=tuple(map(_told, world.resources, told)))
    return None


def _told(resource: Resource, trigger: str | None) -> Resource:
    leaving = resource.leaving
    for name, start, _, becomes in RESOURCE_ROWS:
        if name == trigger and resource.base in start.split():
            resource = replace(resource, base=becomes)
            leaving = False if trigger == "instantiate" else leaving
            break
    if trigger == "leave" and resource.base != "Terminated":
        leaving = True
    return replace(resource, leaving=leaving)


def say_resource(world: World, trigger: str) -> World | str:
    """The world after a trigger at the first resource; `so` if it is redundant, `refused` if it is rejected."""
    first = world.resources[0]
    for name, start, while_, becomes in RESOURCE_ROWS:
        if name == trigger and (start == LIVE or first.base in start.split()) and _holds(world, while_):
            leaving = first.leaving and trigger != "add"
            return replace(world, resources=(Resource(becomes, leaving), *world.resources[1:]))
    guarded = [row for row in RESOURCE_ROWS if row[0] == trigger and (row[1] == LIVE or first.base in row[1].split())]
    is_so = any(row[0] == trigger and row[3] == first.base for row in RESOURCE_ROWS)
    return "so" if is_so and not guarded and trigger != "add" else "refused"


def _holds(world: World, while_: str | None) -> bool:
    if while_ is None:
        return True
    if while_ == "its context is not Instantiated":
        return world.state != "Instantiated"
    return world.base in while_.split()

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
    ("update",                "Instantiated InstantiateFailed",                                                   "Update",       "terminate"),
    ("update_from",           "Created Updated",                                                                  "Instantiate",  "instantiate"),
    ("update_from",           "Updating UpdateFailed",                                                            "Instantiate",  "reclaim"),
    ("stop",                  LIVE,                                                                               "same",         None),
    ("resume",                LIVE,                                                                               "same",         None),
    ("instantiation_stopped", "PreTerminate",                                                                     "Terminate",    "terminate"),
)  # fmt: skip
RESOURCE_ROWS = (
    # trigger       from (bases)                  while                                          base becomes
    ("add",         "∅ Terminated HandedOver",    "its context is asked Created Instantiate",    "Pending"),
    ("applied",     "Pending Retrying",           None,                                          "Applied"),
    ("applied",     "Failed",                     "its context is asked Created Instantiate",    "Applied"),
    ("failed",      "Pending Retrying",           None,                                          "Failed"),
    ("failed",      "Applied",                    "its context is not Instantiated",             "Failed"),
    ("retrying",    "Pending",                    None,                                          "Retrying"),
    ("retrying",    "Applied",                    "its context is asked Terminate Update",       "Retrying"),
    ("terminated",  LIVE,                         "its context is asked Terminate PreTerminate Update", "Terminated"),
    ("deleted",     LIVE,                         "its context is asked Terminate PreTerminate Update", "Terminated"),
    *((trigger,     start,                        "its context is asked Created Instantiate",    becomes)
      for trigger in ("terminated", "deleted")
      for start, becomes in (("Applied Retrying", "Pending"), ("Pending", "Pending"), ("Failed", "Failed"), ("Terminated", "Terminated"))),
    ("instantiate", "Failed Retrying Terminated HandedOver", None,                               "Pending"),
    ("reclaim",     "Applied Failed Retrying Terminated HandedOver", None,                       "Pending"),
    ("terminate",   "Failed Retrying",            None,                                          "Pending"),
    ("hand_over",   "Pending Applied Failed Retrying Terminated", None,                          "HandedOver"),
    ("reached",     "Retrying",                   None,                                          "Pending"),
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
    ("terminate",    "any",    "Terminated",                                             "Terminated"),
    ("stop",         "any",    "Instantiated Applied",                                   "InstantiateStopped"),
    ("stop",         "any",    "Terminated",                                             "TerminateStopped"),
    ("delete",       "any",    "Created Approved Terminated TerminateStopped",           "Deleted"),
)  # fmt: skip
RESOURCE_BASES = ("Pending", "Applied", "Failed", "Retrying", "Terminated", "HandedOver")
"""HandedOver is Deleted, with the context that took over."""
CONTEXT_BASES = ("Created", "Instantiate", "PreTerminate", "Terminate", "Update")
REACHES = ("Unknown", "Available", "Unreachable")


@dataclass(frozen=True)
class World:
    """A context, stopped or not, with the bases of resources that are on one cluster."""

    base: str
    stopped: bool
    reach: str
    resources: tuple[str, ...]

    def resource_state(self, resource: str) -> str:
        away = self.reach == "Unreachable"
        if away and (resource == "Pending" or (resource == "Applied" and self.base == "Terminate")):
            return "Retrying"
        return "Deleted" if resource == "HandedOver" else resource

    @property
    def state(self) -> str:
        """The state of the context (docs/spec/emco.md, App context)."""
        states = [self.resource_state(found) for found in self.resources if found != "HandedOver"]
        if self.base == "Instantiate":
            return _view(states, "Failed", "Applied", ("InstantiateFailed", "Instantiated", "Instantiating"))
        if self.base == "Terminate":
            return _view(states, "Failed", "Terminated", ("TerminateFailed", "Terminated", "Terminating"))
        if self.base == "Update":
            return _view(states, "Failed", "Terminated", ("UpdateFailed", "Updated", "Updating"))
        return self.base


def _view(states: list[str], bad: str, good: str, shown: tuple[str, str, str]) -> str:
    if bad in states:
        return shown[0]
    return shown[1] if all(state == good for state in states) else shown[2]


def worlds() -> list[World]:
    """All worlds with at most two resources."""
    some = [(), *((found,) for found in RESOURCE_BASES), *product(RESOURCE_BASES, RESOURCE_BASES)]
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
            told = ["hand_over" if trigger == "update" and kept[i] else fires for i in range(len(world.resources))]
            return replace(after, resources=tuple(map(_told, world.resources, told)))
    return None


def _told(resource: str, trigger: str | None) -> str:
    for name, start, _, becomes in RESOURCE_ROWS:
        if name == trigger and resource in start.split():
            return becomes
    return resource


def say_resource(world: World, trigger: str) -> World | str:
    """The world after a trigger at the first resource; `so` if it is redundant, `refused` if it is rejected."""
    first = world.resources[0]
    for name, start, while_, becomes in RESOURCE_ROWS:
        if name == trigger and _starts(first, start) and _holds(world, while_):
            after = replace(world, resources=(becomes, *world.resources[1:]))
            if becomes == "Terminated" and world.base == "PreTerminate":  # whoever deletes has stopped applying
                after = replace(
                    after, base="Terminate", resources=tuple(_told(one, "terminate") for one in after.resources)
                )
            return after
    if first == "HandedOver" and trigger in ("terminated", "deleted"):
        return "so"
    guarded = [row for row in RESOURCE_ROWS if row[0] == trigger and _starts(first, row[1])]
    is_so = any(row[0] == trigger and row[3] == first for row in RESOURCE_ROWS)
    return "so" if is_so and not guarded and trigger != "add" else "refused"


def _starts(resource: str, start: str) -> bool:
    return resource != "HandedOver" if start == LIVE else resource in start.split()


def say_cluster(world: World, trigger: str, reach: str) -> World:
    """The world after `connected` or `disconnected`."""
    told = "reached" if trigger == "connected" and world.reach != "Available" else None
    return replace(world, reach=reach, resources=tuple(_told(one, told) for one in world.resources))


def _holds(world: World, while_: str | None) -> bool:
    if while_ is None:
        return True
    if while_ == "its context is not Instantiated":
        return world.state != "Instantiated"
    return world.base in while_.split()

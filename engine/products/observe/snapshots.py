"""Snapshots of what an observer sees, so that what vanished while nobody looked is gone.

Belongs here: which entities are there below others, and the events that say so, split by size. Does not: when to send
them (`cluster`), what a snapshot does (the core).
"""

from collections.abc import Iterable, Iterator, Mapping

from phaseline.engine.products.observe.events import ObservedEvent
from phaseline.engine.publish import snapshots

PARTS = {
    "application_set": 1, "application": 2, "resource": 5, "owned_object": 6, "git_repo": 1, "bundle": 2,
    "bundle_deployment": 3,
}  # fmt: skip
"""The number of parts in the ids of the kinds that are remembered."""
PLACES = ("application",)
"""The kinds whose entities get heartbeats. The check-ins of Fleet's agents speak for its deployments."""


class Presence:
    """The entities that were seen and are not gone."""

    def __init__(self) -> None:
        self._there: dict[str, dict[str, str]] = {kind: {} for kind in PARTS}
        """By kind and id, the identity of the object; empty if it is not known."""
        self._named: dict[str, frozenset[str]] = {}
        """By application, the resources that it names itself. They are there although nobody saw the objects."""
        self._heard: set[tuple[str, str]] = set()
        """The places that were told of since the last heartbeats."""

    def note(self, event: ObservedEvent) -> bool:
        """Learn from an event, whether it is sent or would only repeat the last one.

        Returns whether another object has taken the place of the one that was there.
        """
        if event.kind not in PARTS or event.trigger == "named":
            return False
        data = event.data or {}
        nowhere = event.trigger == "observed" and "live" in data and data["live"] is data.get("desired") is None
        if event.trigger == "removed" or (nowhere and "desired" in data):
            self.forget(event.kind, event.id)
            return False
        uid, before = data.get("uid", ""), self._there[event.kind].get(event.id, "")
        parts = event.id.split("/")
        for kind, count in PARTS.items():
            if kind == event.kind or (count < len(parts) and kind in ABOVE[event.kind]):
                self._there[kind].setdefault("/".join(parts[:count]), "")
        if uid and event.trigger != "events_seen":
            self._there[event.kind][event.id] = uid
        return bool(uid and before) and self._there[event.kind][event.id] != before

    def named(self, event: ObservedEvent) -> frozenset[str]:
        """Learn which resources an application names now; returns those that it no longer names."""
        before = self._named.get(event.id, frozenset())
        if not event.data:  # it has lost its list: what it named is still there
            return frozenset()
        names = frozenset(f"{event.id}/{one}" for one in event.data["resources"])
        self._named[event.id] = names
        return before - names

    def heard(self, event: ObservedEvent) -> None:
        """Note that an event about a place, or about something below it, is sent."""
        for kind in PLACES:
            if kind == event.kind or kind in ABOVE.get(event.kind, ()):
                self._heard.add((kind, "/".join(event.id.split("/")[: PARTS[kind]])))

    def forget(self, kind: str, entity_id: str) -> None:
        """Forget an entity and all below it."""
        self._there[kind].pop(entity_id, None)
        for one in [one for one in self._named if f"{one}/".startswith(f"{entity_id}/")]:
            del self._named[one]
        for below, above in ABOVE.items():
            if kind in above and below in self._there:
                ids = self._there[below]
                for one in [one for one in ids if one.startswith(f"{entity_id}/")]:
                    del ids[one]

    def ids(self, kind: str) -> list[str]:
        """The ids of a kind that are there."""
        return list(self._there[kind])

    def snapshots(self, kind: str, below: str, start: str = "") -> Iterator[ObservedEvent]:
        """The snapshots of each entity of a kind: what is there of the kind `below`, of ids that begin with `start`."""
        count = PARTS[kind]
        names: dict[str, dict[str, str]] = {entity_id: {} for entity_id in self._there[kind]}
        named = frozenset[str]().union(*self._named.values()) if below == "resource" else ()
        for one in dict.fromkeys((*self._there[below], *sorted(named))):
            parts = one.split("/")
            name = "/".join(parts[count:])
            if name.startswith(start):
                names.setdefault("/".join(parts[:count]), {})[name] = self._there[below].get(one, "")
        for entity_id, listed in names.items():
            yield from snapshot(kind, entity_id, below, listed, start)

    def of_owners(self, sorts: Iterable[str]) -> Iterator[ObservedEvent]:
        """The snapshots of what each resource owns: of those that own something, and of those of these sorts."""
        count = PARTS["resource"]
        owned: dict[str, dict[str, str]] = {
            entity_id: {} for entity_id in self._there["resource"] if entity_id.split("/")[count - 3] in sorts
        }
        for one, uid in self._there["owned_object"].items():
            entity_id, _, name = one.rpartition("/")
            owned.setdefault(entity_id, {})[name] = uid
        for entity_id, listed in owned.items():
            yield from snapshot("resource", entity_id, "owned_object", listed)

    def heartbeats(self) -> Iterator[ObservedEvent]:
        """A heartbeat for each place of which nothing was told since the last time."""
        for kind in PLACES:
            for entity_id in self._there[kind]:
                if (kind, entity_id) not in self._heard:
                    yield ObservedEvent(kind, "heartbeat", entity_id)
        self._heard.clear()


ABOVE = {
    "application": ("application_set",), "resource": ("application_set", "application"), "bundle": ("git_repo",),
    "owned_object": ("application_set", "application", "resource"),
    "bundle_deployment": ("git_repo", "bundle"), "bundle_resource": ("git_repo", "bundle", "bundle_deployment"),
    "application_set": (), "git_repo": (),
}  # fmt: skip
"""The kinds above each kind."""


def snapshot(
    kind: str, entity_id: str, below: str, names: Mapping[str, str], start: str = "", most: int | None = None
) -> Iterator[ObservedEvent]:
    """The events that list these names below an entity: one, or several that share its range.

    names: with the identity of each object, empty if it is not known.
    start: only names that begin with it are spoken of. It ends with a slash; in byte order, the names that begin with
    `a/` are those after `a/` up to `a0`.
    """
    after, upto = (start, f"{start[:-1]}0") if start else (None, None)
    items = [{"id": name, **({"uid": uid} if uid else {})} for name, uid in names.items()]
    for data in snapshots.events(below, items, after=after, upto=upto, most=most):
        yield ObservedEvent(kind, "snapshot", entity_id, data)

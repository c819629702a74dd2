"""The resources that an Argo CD Application names in its status, with their sync, health and what is to be pruned.

Belongs here: reading that list, its bounds, which of its states count for the whole. Does not: what a name means where
the object itself is observed (`kinds.gitops.named`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.products.observe.events import (
    Manifest,
    ObservedEvent,
    id_suffix,
    mapping,
    maps,
    named_key,
    text,
    without_empty,
)
from phaseline.machines.kinds.gitops.controller import HEALTHS
from phaseline.machines.kinds.gitops.observe import ASIDE
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, HEALTHY, MISSING, NOT_ASSESSED

MOST, LONGEST_LIST = 2_000, 500_000
"""The most resources of one Application that are named, and about the most bytes of what is said of them together."""
LONGEST = 1_024
"""The most characters of a message."""


class ArgoSaid(NamedTuple):
    """What Argo CD says of one resource. health: empty if it says nothing; sync: its word."""

    key: ObjectKey
    sync: str
    health: str
    message: str
    since: str
    prunes: bool
    hook: bool
    wave: int

    @classmethod
    def of(cls, one: Manifest) -> "ArgoSaid":
        """Read one member of the list."""
        found, wave = mapping(one, "health"), one.get("syncWave")
        health = ALIASES.get(text(found, "status"), text(found, "status"))
        return cls(
            named_key(one), text(one, "status"), health if health in HEALTHS else "", text(found, "message")[:LONGEST],
            text(found, "lastTransitionTime"), one.get("requiresPruning") is True, one.get("hook") is True,
            wave if type(wave) is int and abs(wave) < 10**9 else 0,
        )  # fmt: skip

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """What is not well comes first: if some must be left out, it is what is well."""
        worst = HEALTHS.index(self.health) if self.health else len(HEALTHS)
        return self.sync == SYNCED and not self.prunes, not self.prunes, worst


class Whole(NamedTuple):
    """What Argo CD says of the whole Application; empty if it says nothing."""

    sync: str
    health: str

    @classmethod
    def of(cls, status: Manifest) -> "Whole":
        """Read the status of an Application."""
        health = text(mapping(status, "health"), "status")
        return cls(text(mapping(status, "sync"), "status"), ALIASES.get(health, health))

    def alone(self, status: Manifest) -> dict[str, bool]:
        """Which word of the whole none of its resources bears out, though the list says something of these."""
        said = [one for one in map(ArgoSaid.of, maps(status, "resources")) if not one.hook]
        healths, syncs = {one.health for one in said} - {""}, {one.sync for one in said} - {""}
        borne_out = self.health in healths and self.health != MISSING
        return {
            **({"health_alone": True} if healths and self.health not in ("", HEALTHY) and not borne_out else {}),
            **({"sync_alone": True} if syncs and self.sync == OUT_OF_SYNC and OUT_OF_SYNC not in syncs else {}),
        }


class NamedResources(NamedTuple):
    """What is told of the resources of an Application, by the end of their ids. left_out: how many more there are."""

    told: Mapping[str, Mapping[str, Any]]
    left_out: int

    @classmethod
    def of(cls, status: Manifest) -> "NamedResources | None":
        """Read the status of an Application; None if it does not say which resources it has.

        Kubernetes leaves out an empty list, so one that was compared and has no list has none.
        """
        if not isinstance(status.get("resources"), list) and Whole.of(status).sync not in (SYNCED, OUT_OF_SYNC):
            return None
        all_ = [one for one in map(ArgoSaid.of, maps(status, "resources")) if one.key.kind and one.key.name]
        found = {id_suffix(one.key): one for one in all_}
        whole = Whole.of(status)
        spares = any(one.health != MISSING for one in found.values() if not one.hook)
        told: dict[str, Mapping[str, Any]] = {}
        length = 0
        for name, one in sorted(found.items(), key=lambda pair: pair[1].rank):
            said = _data(one, whole, spares=spares)
            length += len(name.encode()) + sum(len(str(part).encode()) + 20 for part in said.values())
            if len(told) == MOST or length > LONGEST_LIST:
                break
            told[name] = said
        return cls(told, len(found) - len(told))

    def counted(self) -> dict[str, int]:
        """How many there are, and how many of these are left out, for the report of the whole."""
        left_out = {"resources_left_out": self.left_out} if self.left_out else {}
        return {"resources_named": len(self.told) + self.left_out, **left_out} if self.told else {}

    def events(self, entity_id: str) -> Iterator[ObservedEvent]:
        """The events: each resource, then the list with what is said of all.

        So all states change at once, and in between none is better than it should be.
        """
        for name in self.told:
            yield ObservedEvent("resource", "named", f"{entity_id}/{name}")
        yield ObservedEvent("application", "named", entity_id, {"resources": self.told})


def _data(one: ArgoSaid, whole: Whole, *, spares: bool) -> Mapping[str, Any]:
    if one.hook:
        return without_empty(health=ASIDE, sync=NOT_COMPARED, health_message="it is a hook", wave=one.wave or None)
    health, why_health = _health(one, whole, spares=spares)
    sync, why_sync = _sync(one, whole)
    return without_empty(
        health=health, health_message=why_health, sync=sync, sync_message=why_sync, prune=one.prunes or None,
        wave=one.wave or None,
    )  # fmt: skip


def _health(one: ArgoSaid, whole: Whole, *, spares: bool) -> tuple[str, str]:
    """A health that is worse than that of the whole does not count there, so it is told and not shown.

    spares: whether something else is there: then Argo CD does not count what is missing, and neither do its profiles.
    """
    if not one.health:
        return NOT_ASSESSED, ""
    since = f" (since {one.since})" if one.since else ""
    said = f"Argo CD says {one.health}{f': {one.message}' if one.message else ''}{since}"
    spared = one.health == MISSING and spares
    if whole.health in HEALTHS and HEALTHS.index(one.health) < HEALTHS.index(whole.health) and not spared:
        return NOT_ASSESSED, f"{said}; it does not count for the application, which Argo CD calls {whole.health}"
    return one.health, said if one.message or one.health != HEALTHY else ""


def _sync(one: ArgoSaid, whole: Whole) -> tuple[str, str]:
    prunes = ": it is to be pruned, Git no longer declares it" if one.prunes else ""
    if one.sync not in (SYNCED, OUT_OF_SYNC):
        return NOT_COMPARED, "Argo CD does not know whether it matches Git" if one.sync else ""
    if one.sync == OUT_OF_SYNC and whole.sync == SYNCED:
        return NOT_COMPARED, f"Argo CD says {OUT_OF_SYNC}{prunes}; it does not count for the application"
    return one.sync, f"Argo CD says {one.sync}{prunes}" if one.sync == OUT_OF_SYNC else ""

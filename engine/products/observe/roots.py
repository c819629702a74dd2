"""Entities whose own objects vanished while nobody looked, such as an Application without a set.

No snapshot speaks of them: nothing above them was seen that could miss them. So each such entity keeps the name of its
observer and of its object. An observer that has listed all objects of a sort asks for the entities that bear its name,
and reports those that are gone as removed.

Belongs here: which entities an observer answers for, and which of them are gone. Does not: what is below them
(`snapshots`), when to ask (`bridge`), requests (`cluster`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable

from phaseline.engine import logs
from phaseline.engine.products.observe.events import (
    Manifest,
    ObservedEvent,
    identified,
    identity,
    mapping,
    text,
    uid_of,
)
from phaseline.engine.products.observe.fleet import objects as fleet
from phaseline.engine.products.observe.ownership import APPLICATION, APPLICATION_SET
from phaseline.machines.kinds.kubernetes.observation import version_of
from phaseline.machines.language.endings import MOVED
from phaseline.machines.language.fields import UID_VERSION
from phaseline.schemas.errors import PhaselineError
from phaseline.schemas.records import Entity

log = logs.get_logger(__name__)

OWN_OBJECT = {
    APPLICATION_SET: "application_set", APPLICATION: "application", (fleet.GROUP, "GitRepo"): "git_repo",
    (fleet.GROUP, "HelmOp"): "git_repo", (fleet.GROUP, "HelmApp"): "git_repo", (fleet.GROUP, "Bundle"): "bundle",
    (fleet.GROUP, "BundleDeployment"): "bundle_deployment",
}  # fmt: skip
"""The sorts of objects that are entities themselves, with the kind of the entity."""
DECLARED_AS = "declared_as"
"""The attribute that says of which sort an entity's object is, where it may be of several."""
NAMING = {
    "application_set.configure", "application.configure", "git_repo.created", "git_repo.fetched",
    "git_repo.fetch_failed", "bundle.created", "bundle.rollout", "bundle_deployment.observed",
}  # fmt: skip
"""The events that name the observer and the object."""

ABOUT_ITSELF = {
    "observed", "reported", "named", "created", "fetched", "fetch_failed", "failed", "recovered", "rollout", "removed",
}  # fmt: skip
"""The observations of an object that is an entity itself. They name its uid."""
SETTINGS = "configure"
"""The request with what an object asks for. It names the uid in fields of its own."""

SHARED = ("git_repo", "bundle")
"""The kinds of which several objects may be one entity. That the last of them is gone says nothing of which it is."""

Known = Callable[[str], AsyncIterator[Entity]]
"""Gives the entities of a kind that are not deleted, as far as the workers have decided."""
IsGone = Callable[[str], Awaitable[bool]]
"""Says whether the API server has no object of this name (`<namespace>/<name>`)."""


class Roots:
    """The entities whose own objects are there, and the name under which the observer answers for them."""

    def __init__(self) -> None:
        """Start without a name: then nothing is named, and nothing of earlier runs is looked for."""
        self.observer = ""
        self._there: dict[str, dict[str, str]] = {kind: {} for kind in OWN_OBJECT.values()}
        """By kind and id, the object."""
        self._announced: set[str] = set()

    def note(
        self, sort: tuple[str, str], event: ObservedEvent, manifest: Manifest, *, is_listed: bool = False
    ) -> ObservedEvent:
        """Learn from an event of an object; returns the event, with the names that its entity is to keep.

        is_listed: whether a list says so, which counts whatever its version is.
        """
        kind = OWN_OBJECT.get(sort)
        if kind != event.kind:
            return event
        is_shared = event.trigger == "removed" and kind in SHARED
        if event.trigger in ABOUT_ITSELF and not is_shared and (uid := identified(uid_of(manifest), sort[1])):
            version = None if is_listed else version_of(manifest)
            told = uid if version is None else {**uid, UID_VERSION: version}
            event = event._replace(data={**(event.data or {}), **told})
        if event.trigger == SETTINGS and (whose := identity(uid_of(manifest))):
            version = 0 if is_listed else version_of(manifest)
            numbered = {} if version is None else {"settings_version": version}
            event = event._replace(data={**(event.data or {}), "settings_object": whose, **numbered})
        if event.trigger == "removed":
            self._there[kind].pop(event.id, None)
            return event
        metadata = mapping(manifest, "metadata")
        named = f"{text(metadata, 'namespace')}/{text(metadata, 'name')}"
        self._there[kind][event.id] = named
        if not self.observer or f"{kind}.{event.trigger}" not in NAMING:
            return event
        return event._replace(data={**(event.data or {}), "observer": self.observer, "observed_as": named})

    def announced(self, application: str) -> ObservedEvent | None:
        """The event by which an application that is known by marks alone keeps the observer's name; once for each."""
        if not self.observer or application in self._announced:
            return None
        self._announced.add(application)
        return ObservedEvent("application", "configure", application, {"observer": self.observer})

    async def marked(self, known: Known) -> list[str]:
        """The applications that are known by marks alone, from earlier runs."""
        return [one.id for one in await self._own(known, "application") if not one.attributes.get("observed_as")]

    async def gone(self, sort: tuple[str, str], known: Known, is_gone: IsGone) -> AsyncIterator[ObservedEvent]:
        """The events of the entities whose objects are gone, after all objects of this sort were listed.

        An object that is not in the list counts as gone only if the API server says so: a list may be cut to what the
        observer may see. One that is there under another id has moved.
        """
        kind = OWN_OBJECT.get(sort)
        for entity in [] if kind is None else await self._own(known, kind):
            there, named = self._there[entity.kind], entity.attributes.get("observed_as")
            if entity.id in there or not named or entity.attributes.get(DECLARED_AS, sort[1]) != sort[1]:
                continue
            if named in there.values():
                yield ObservedEvent(entity.kind, "removed", entity.id, {MOVED.name: True})
            elif await is_gone(named):
                yield ObservedEvent(entity.kind, "removed", entity.id)

    async def _own(self, known: Known, kind: str) -> list[Entity]:
        """The known entities of a kind that this observer answers for: also those of its own single namespaces."""
        if not self.observer:
            return []
        try:
            return [one async for one in known(kind) if self._is_own(one.attributes.get("observer"))]
        except PhaselineError as error:
            log.warning("past_not_known", kind=kind, error=str(error))
            return []

    def _is_own(self, observer: object) -> bool:
        return isinstance(observer, str) and (observer == self.observer or observer.startswith(f"{self.observer}/"))

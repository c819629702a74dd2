"""Kubernetes Events (core/v1 and events.k8s.io/v1) about the objects that are observed.

Belongs here: reading an Event, which object it is about, when it is news. Does not: joining Events with those that an
entity keeps (`kinds.gitops.happenings`), where objects are (`owned`).

A reason that an object did not have yet is news. Repeats are told when their number has doubled; another message alone
is told with the next news.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.products.observe.events import Manifest, ObservedEvent, mapping, named_key, text, without_empty
from phaseline.engine.products.observe.owned import KnownObject
from phaseline.machines.kinds.gitops.happenings import joined
from phaseline.machines.kinds.kubernetes.manifest_id import group_kind
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey

EVENTS = frozenset({("", "Event"), ("events.k8s.io", "Event")})
"""The same Events in two forms."""
HELD = 2_000
"""The most objects that were not seen yet, of which Events are kept."""
REASONS = 64
"""The most reasons of one object whose repeats are counted."""


class Happening(NamedTuple):
    """An Event. uid, key: of the object that it is about; a uid may be missing. told: what the core gets."""

    uid: str
    key: ObjectKey
    told: Mapping[str, Any]

    @classmethod
    def of(cls, manifest: Manifest) -> "Happening | None":
        """Read an Event; None if it is about nothing, or says nothing."""
        about = mapping(manifest, "regarding") or mapping(manifest, "involvedObject")
        key, told = named_key(about), _told(manifest)
        return cls(text(about, "uid"), key, told) if key.kind and key.name and told.get("reason") else None


def _told(manifest: Manifest) -> dict[str, Any]:
    series, metadata = mapping(manifest, "series"), mapping(manifest, "metadata")
    counts = [one for one in (series.get("count"), manifest.get("deprecatedCount"), manifest.get("count"))
              if type(one) is int and one > 0]  # fmt: skip
    made = text(manifest, "eventTime"), text(metadata, "creationTimestamp")
    ended = text(manifest, "deprecatedLastTimestamp"), text(manifest, "lastTimestamp")
    began = text(manifest, "deprecatedFirstTimestamp"), text(manifest, "firstTimestamp")
    times, begins = [*filter(None, (text(series, "lastObservedTime"), *ended, *made))], [*filter(None, (*began, *made))]
    source = mapping(manifest, "deprecatedSource") or mapping(manifest, "source")
    by = text(manifest, "reportingController") or text(manifest, "reportingComponent") or text(source, "component")
    return without_empty(
        type=text(manifest, "type"), reason=text(manifest, "reason"),
        message=text(manifest, "note") or text(manifest, "message"), count=max(counts, default=1),
        first=_second(begins), last=_second(times), by=by,
    )  # fmt: skip


def _second(times: Sequence[str]) -> str:
    """The first of these times, without parts of a second; empty if there is none."""
    head, dot, _ = (times[0] if times else "").partition(".")
    return f"{head}Z" if dot else head


class _OfObject:
    """The Events of one object, and how often each reason was seen."""

    def __init__(self) -> None:
        self.last: list[Mapping[str, Any]] = []
        self.seen: dict[tuple[str, str], tuple[int, int]] = {}
        """By type and reason: how many Events came, and the highest count of one."""

    def take(self, told: Mapping[str, Any]) -> None:
        self.last = joined(self.last, [told])
        reason = told.get("type", ""), told.get("reason", "")
        if reason in self.seen or len(self.seen) < REASONS:
            number, count = self.seen.get(reason, (0, 0))
            self.seen[reason] = number + 1, max(count, told.get("count", 1))

    def news(self) -> list[Any]:
        """What changes when there is news: another reason, or twice as many."""
        return sorted(
            [*reason, number.bit_length(), count.bit_length()] for reason, (number, count) in self.seen.items()
        )


class Happenings:
    """The Events of the objects that are observed, and of those that may still come."""

    def __init__(self) -> None:
        self._of: dict[ObjectKey, tuple[str, _OfObject]] = {}
        """By object, its uid and its Events."""
        self._held: dict[tuple[str, ObjectKey], _OfObject] = {}

    def take(self, found: Happening, known: KnownObject | None) -> ObservedEvent | None:
        """The event to publish of an Event about an object that is shown; None where that is not there (yet)."""
        if known is None:
            name = (found.uid, found.key)
            held = self._held.pop(name, None) or _OfObject()
            self._held[name] = held
            held.take(found.told)
            if len(self._held) > HELD:
                del self._held[next(iter(self._held))]
            return None
        of = self._events_of(known)
        of.take(found.told)
        return _event(known, of)

    def brought(self, known: KnownObject) -> ObservedEvent | None:
        """The event to publish of Events that came before their object was seen."""
        if not self._held:
            return None
        found = [self._held.pop((uid, known.key), None) for uid in dict.fromkeys((known.uid, ""))]
        of = self._events_of(known)
        before = [one for one in found if one is not None]
        for one in before:
            for told in reversed(one.last):
                of.take(told)
        return _event(known, of) if before else None

    def forget(self, key: ObjectKey) -> None:
        """Forget the Events of an object that is gone."""
        self._of.pop(key, None)

    def _events_of(self, known: KnownObject) -> _OfObject:
        uid, of = self._of.get(known.key, ("", _OfObject()))
        if uid and known.uid and uid != known.uid:
            of = _OfObject()
        self._of[known.key] = known.uid, of
        return of


def _event(known: KnownObject, of: _OfObject) -> ObservedEvent:
    data = without_empty(uid=known.uid, events=[dict(one) for one in of.last])
    return ObservedEvent(known.place.kind, "events_seen", known.place.id, data, [known.uid, of.news()])


def is_event(manifest: Manifest) -> bool:
    """Whether an object is an Event."""
    return group_kind(manifest) in EVENTS

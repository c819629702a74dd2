"""What the conditions of one of Fleet's objects say, and when they began to.

Belongs here: the newest of each type, errors of the object itself, conditions that contradict each other. Does not:
events (`objects`). Fleet changes a condition's time only when what it says changes. Some conditions are left as they
are when their matter is settled, so of two that contradict each other the newer is believed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from phaseline.engine.products.observe.events import Manifest, mapping, maps, text

TIMES = ("lastUpdateTime", "lastTransitionTime")
EVER = datetime.min.replace(tzinfo=UTC)
SUMMARY = re.compile(r"(ErrApplied|WaitApplied|Modified|OutOfSync|Pending|NotReady)\(\d+\) \[")
"""How a message begins that only sums up what is below, and is no error of the object itself."""
FAILED = "Failed"
"""The status of a git job that failed."""


class FleetCondition(NamedTuple):
    """A condition. at: since when; `EVER` if it names no time. since: the same as it is written."""

    name: str
    status: str
    message: str
    reason: str
    at: datetime
    since: str

    @property
    def words(self) -> str:
        """`Accepted is False since 2026-03-02T08:00:00Z`."""
        return f"{self.name} is {self.status}{f' since {self.since}' if self.since else ''}"

    @property
    def why(self) -> str:
        """Its message, or else what else it says."""
        return self.message or f"{self.name} is {self.status}{f' ({self.reason})' if self.reason else ''}"


Conditions = Mapping[str, FleetCondition]


class Errors(NamedTuple):
    """What is wrong with an object by its own words, the newest first, and what newer words of its own contradict."""

    standing: list[str]
    overruled: list[str]

    def beside(self, said: str) -> "Errors":
        """The same with what keeps the object from being well whatever its conditions say, if anything does."""
        return self._replace(standing=[said, *self.standing]) if said else self


class ErrorRow(NamedTuple):
    """A condition that reports an error of the object itself.

    bad: the status that means one. against: conditions about the same matter: True and newer, one of them overrules it.
    """

    name: str
    bad: str
    against: tuple[str, ...] = ()


ERRORS = (
    # Ready and Processed come from the same controller; newer versions of Fleet leave Processed as it was.
    ErrorRow("Ready", "False", ("Processed",)),
    ErrorRow("Processed", "False", ("Ready",)),
    ErrorRow("Accepted", "False"),
    ErrorRow("Stalled", "True", ("Ready", "Accepted", "GitPolling", "Polled")),
    ErrorRow("ImageSynced", "False"),
    ErrorRow("ImageScanned", "False"),
)
FETCHES = ("GitPolling", "Polled")


def said(manifest: Manifest) -> dict[str, FleetCondition]:
    """The conditions of an object by type: of several with the same type the newest."""
    found: dict[str, FleetCondition] = {}
    for one in map(_said, maps(mapping(manifest, "status"), "conditions")):
        if one.name not in found or one.at >= found[one.name].at:
            found[one.name] = one
    return found


def _said(one: Mapping[str, Any]) -> FleetCondition:
    at, since = max(((_time(text(one, name)), text(one, name)) for name in TIMES), key=lambda pair: pair[0])
    return FleetCondition(text(one, "type"), text(one, "status"), text(one, "message"), text(one, "reason"), at, since)


def _time(written: str) -> datetime:
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return EVER
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def is_newer(one: FleetCondition | None, other: FleetCondition) -> bool:
    """Whether a condition is True since a later time than the other says what it says."""
    return one is not None and one.status == "True" and one.at > other.at > EVER


def errors(known: Conditions, job: str = "") -> Errors:
    """What is wrong with an object by its own words. job: the status of its last git job.

    What a failed fetch says is not repeated here. A Stalled that a failed job explains stands, whatever is newer.
    """
    fetching = {known[name].message for name in FETCHES if name in known and known[name].status == "False"}
    standing: list[FleetCondition] = []
    overruled: list[str] = []
    for row in ERRORS:
        one = known.get(row.name)
        if one is None or one.status != row.bad or one.message in fetching or _sums_up(one):
            continue
        against = () if row.name == "Stalled" and job not in ("", "Current") else row.against
        newer = max((known[name] for name in against if is_newer(known.get(name), one)), key=_at, default=None)
        if newer is None:
            standing.append(one)
        else:
            overruled.append(f"{one.words}: {one.why}; {newer.words}")
    standing.sort(key=_at, reverse=True)
    texts = [*dict.fromkeys(_with_the_other(one, known) for one in standing)]
    if job == FAILED and not any(one.name == "Stalled" for one in standing) and not fetching:
        texts.insert(0, "its last git job failed")
    return Errors(texts, overruled)


def _at(one: FleetCondition) -> datetime:
    return one.at


def _sums_up(one: FleetCondition) -> bool:
    """Whether it says no more than what is below it. Ready without a message does not say what is wrong."""
    return SUMMARY.match(one.message) is not None or (one.name == "Ready" and not one.message)


def _with_the_other(one: FleetCondition, known: Conditions) -> str:
    """Why it stands, and since when Ready says otherwise."""
    ready = known.get("Ready")
    if ready is None or ready.status != "True" or EVER in (ready.at, one.at) or ready.at == one.at:
        return one.why
    return f"{one.why} ({one.words}; {ready.words})"


def failures(known: Conditions, names: Iterable[str]) -> Iterator[FleetCondition]:
    """Those of some conditions that are False, the newest first; at the same time, in the order of the names."""
    found = [known[name] for name in names if name in known and known[name].status == "False"]
    yield from sorted(found, key=_at, reverse=True)

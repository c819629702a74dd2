"""The errors that Phaseline raises. `PhaselineError` is the base of all.

The classes below it are grouped by what a caller does next:
- `NoAnswer`: try again later.
- `NotFound`: use another name; what was asked for does not exist.
- `InvalidInput`: correct what was passed; an event, a file, a setting.
- `SetupError`: change the installation, the NATS server, or what is installed here.
- `ServerRefused`: the NATS server or a worker refused a request.
- `LogDamaged`: the log does not hold what it should.

The first paragraph of a class's docstring is its message. Names in braces are attributes of the error.

Belongs here: errors that a caller may want to tell apart. Does not: rejected events, which are records; bugs.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from phaseline.engine.setup_errors import ClusterUnusable as ClusterUnusable  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import DataDirInUse as DataDirInUse  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import DataDirUnusable as DataDirUnusable  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import DecisionStuck as DecisionStuck  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import EdgeAccountMissing as EdgeAccountMissing  # noqa: PLC0414  # likewise
from phaseline.engine.setup_errors import EdgeAnswerUnreadable as EdgeAnswerUnreadable  # noqa: PLC0414  # likewise
from phaseline.engine.setup_errors import EdgeStoreMissing as EdgeStoreMissing  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import FeedUnknown as FeedUnknown  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import InboxRefused as InboxRefused  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import InletHoldsEvents as InletHoldsEvents  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import KeyUnreadable as KeyUnreadable  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import KindMissing as KindMissing  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import KindsBroken as KindsBroken  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import NoServerBinary as NoServerBinary  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import NotPermitted as NotPermitted  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import NotProvisioned as NotProvisioned  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import PartitionsDiffer as PartitionsDiffer  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import PartitionsMoved as PartitionsMoved  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import PortTaken as PortTaken  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import PrefixTaken as PrefixTaken  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import ServerFailed as ServerFailed  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import ServerGone as ServerGone  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import ServerTooOld as ServerTooOld  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import StatesStranded as StatesStranded  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import StreamsDiffer as StreamsDiffer  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import TablesDiffer as TablesDiffer  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import TlsFailed as TlsFailed  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import UserRefused as UserRefused  # noqa: PLC0414  # part of this module
from phaseline.engine.setup_errors import WorkerFaults as WorkerFaults  # noqa: PLC0414  # part of this module
from phaseline.schemas.base_error import PhaselineError as PhaselineError  # noqa: PLC0414  # part of this module
from phaseline.schemas.base_error import SetupError as SetupError  # noqa: PLC0414  # likewise
from phaseline.schemas.libraries import NotInstalled as NotInstalled  # noqa: PLC0414  # likewise
from phaseline.schemas.similar import did_you_mean
from phaseline.schemas.upcasting import NewerRecord as NewerRecord  # noqa: PLC0414  # likewise


class NoAnswer(PhaselineError):
    """no answer arrived; it is unknown whether the request took effect

    Try again later. Publish an event again under the same id: the server stores it once.
    """


class NatsUnreachable(NoAnswer):
    """cannot reach NATS at {url}: {cause}"""

    url: str
    cause: str


class RequestTimedOut(NoAnswer):
    """no answer from {subject} within {seconds:g} s{hint}"""

    subject: str
    seconds: float
    hint: str


class ConnectionLost(NoAnswer):
    """the connection to NATS broke before {subject} answered"""

    subject: str


class NoResponders(NoAnswer):
    """no service answers on {subject}: JetStream is off, or its leader is not available at the moment"""

    subject: str


class NoJetStream(NoResponders):
    """the NATS server at {url} has no JetStream: start it with JetStream (`nats-server -js -sd DIR`), or use another"""

    url: str


class NoSuchStream(NoResponders):
    """no stream stores {subject}: run `phaseline up` or `phaseline worker` first, or check the prefix

    On the server of an edge, an operator runs `phaseline edge add` at the hub.
    """


class Unconfirmed(NoAnswer):
    """event {event!r} of {source!r} may be stored or not ({cause}): publish it again with its id, it counts once"""

    event: str
    source: str
    cause: str


class Undecided(NoAnswer):
    """event {sequence} is stored, but no worker decided it within {seconds:g} s: check that a worker is running"""

    sequence: int
    seconds: float


class NotDecidedYet(NoAnswer):
    """{missing}; events of its partition that are not decided yet ({events}) may change that: ask again"""

    missing: str
    events: int


class CellsAway(NoAnswer):
    """none of the cells can be read: {problems}"""

    problems: str


class NotInCells(NoAnswer):
    """{missing}, but {away} cannot be read and may have it: ask again"""

    missing: str
    away: str


class NotOwned(NoAnswer):
    """partition {partition} is not owned by this worker"""

    partition: int


class NotFound(PhaselineError):
    """not found"""


class EntityUnknown(NotFound):
    """there is no {kind} {id!r}: `phaseline list` shows which entities exist"""

    kind: str
    id: str


class EntityNotYetKnown(EntityUnknown):
    """there was no {kind} {id!r} at place {place} of the log: `phaseline history` shows when it was created"""

    place: int


class TreeUnknown(NotFound):
    """there is no entity in the tree {root!r}: `phaseline list` shows which entities exist"""

    root: str


class TreeNotYetKnown(TreeUnknown):
    """there was no entity in the tree {root!r} at place {place} of the log"""

    place: int


class NameUnknown(NotFound):
    """there is no {what} {name!r}{meant}: choose one of {known}"""

    what: str
    name: str
    known: str
    meant: str

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> Self:
        """The error for a name that is none of the known ones. It asks whether the most similar one was meant."""
        names = list(dict.fromkeys(known))
        return cls(what=what, name=name, known=", ".join(names), meant=did_you_mean(name, names))


class RecordNotFound(NotFound):
    """there is no transition or rejection at place {place} of the log, which holds the places {first} to {last}"""

    place: int
    first: int
    last: int


class NotRejected(NotFound):
    """the record at place {place} of the log is not a rejection but {actual}: see `phaseline rejections`"""

    place: int
    actual: str


class EventGone(NotFound):
    """the stream {stream} no longer holds event {sequence}"""

    sequence: int
    stream: str


class NotObserved(NotFound):
    """no observation of resource {id!r} is stored: publish resource.observed, or see `phaseline list resource`"""

    id: str


class InvalidInput(PhaselineError):
    """the input is not valid"""


class BadSetting(InvalidInput):
    """setting {name}: {problem}"""

    name: str
    problem: str


class BadUserName(InvalidInput):
    """{name!r} cannot name a NATS user: {problem}"""

    name: str
    problem: str


class InvalidId(InvalidInput):
    """not a valid id: {problem}"""

    problem: str


class WrongIdLength(InvalidId):
    """not a valid id: {problem}"""

    kind: str
    id: str


class WrongClock(InvalidInput):
    """{problem}: with the clock `event`, name a time"""

    problem: str


class NoState(InvalidInput):
    """{problem}"""

    problem: str


class AmbiguousId(InvalidInput):
    """{id!r} names a {kinds}: choose one, for instance with --kind {kind}"""

    id: str
    kinds: str
    kind: str


class EventRefused(InvalidInput):
    """not sent, because it would be rejected as {reason}: {message}"""

    reason: str
    message: str


class Unsendable(EventRefused):
    """no message can be made of this event, {reason}: {message}"""


class BadEventFile(InvalidInput):
    """{name}, {place}: {problem}"""

    name: Path | str
    place: str
    problem: str


class BadLogFile(InvalidInput):
    """log file {name}: {problem}"""

    name: Path | str
    problem: str


class NoLogFile(BadLogFile):
    """{name} is not a log that `phaseline export` wrote: {problem}"""


class LogFileDamaged(BadLogFile):
    """{name} is damaged, {problem}: {read} could be read before that"""

    read: str


class NoRecords(BadLogFile):
    """{name} holds events without records, so {problem}: export it with --records"""


class BadTables(InvalidInput):
    """cannot load tables from {where}: {problem}"""

    where: str
    problem: str


class StateUnknown(InvalidInput):
    """the changed tables have no {state} for {facet} of {kind} {id} at event {begins}: begin earlier, or keep it"""

    kind: str
    id: str
    facet: str
    state: str
    begins: int


class BadStatusQuery(InvalidInput):
    """{problem}"""

    problem: str


class BadManifest(InvalidInput):
    """{where}: {problem}"""

    where: Path | str
    problem: str


class ServerRefused(PhaselineError):
    """the server refused a request to {subject}"""

    subject: str


class PayloadTooLarge(ServerRefused):
    """a message for {subject} has {size} bytes, but the server accepts at most {limit}"""

    size: int
    limit: int


class ApiFailed(ServerRefused):
    """NATS refused {subject}: {description} (code {code}, error {err_code})"""

    description: str
    code: int
    err_code: int


class NoRoom(ApiFailed):
    """NATS has no room for {subject}: {description} (code {code}, error {err_code}); make room or raise its limits"""


class JetStreamOff(ApiFailed):
    """JetStream is off for the account of this NATS user: enable it for the account, or use a user of another one"""


class Fenced(ServerRefused):
    """another worker has committed to {subject}: this process no longer owns the partition"""


class ServiceRefused(ServerRefused):
    """the service failed: {problem}"""

    problem: str
    code: str


class LogDamaged(PhaselineError):
    """the log does not hold what it should under {subject}"""

    subject: str


class LogEmptied(LogDamaged):
    """partition {partition} has no checkpoint in the log, but STATE has place {place}: restore it, or --accept-loss

    Restore the stream from a backup. Or start a worker with `--accept-loss`, which goes on from STATE.
    """

    partition: int
    place: int


class PlanLost(LogDamaged):
    """the message {subject} is missing from the log, and with it part of an oversized commit"""


class RecordUnreadable(LogDamaged):
    """the message on {subject} is not a record: {problem}"""

    problem: str

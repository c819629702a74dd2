"""What to do about each error, in terms of the command: the way out that stands below an error.

Belongs here: that table. Does not: how it is printed (`cli.failures`, `doctor.examine`); what the message itself says.
"""

from phaseline.engine.errors import (
    EventRefused,
    InboxRefused,
    JetStreamOff,
    LogDamaged,
    NatsUnreachable,
    NoAnswer,
    NoJetStream,
    NotPermitted,
    NotProvisioned,
    PartitionsMoved,
    PhaselineError,
    ServerRefused,
    ServerTooOld,
    StatesStranded,
    TablesDiffer,
    TlsFailed,
    Unsendable,
    UserRefused,
    WorkerFaults,
)

REMEDIES: dict[type[PhaselineError], str] = {
    NatsUnreachable: "start a server with `phaseline up`, or give the URL of another with --nats or PHASELINE_NATS",
    UserRefused: "name a user by --nkey, --creds or nats://USER:PASSWORD@HOST; the server of a `phaseline up` takes "
    "only who started it, with the same XDG_STATE_HOME, unless that was with --open",
    TlsFailed: "--tls-ca, --tls-cert and --tls-key name the files; tls:// in --nats asks for TLS",
    InboxRefused: "the users of `phaseline accounts` have --inbox-prefix _INBOX_<user>",
    NotPermitted: "docs/security.md has the rights of each role; readers need --api-prefix",
    TablesDiffer: "`phaseline replay --with installed` shows what would differ; to continue with the tables installed"
    " here, stop the workers that have the others, and start with --accept-tables and this digest",
    StatesStranded: "`phaseline tables` lists them; --accept-stranded and this digest leaves them in these states, in"
    " which no event moves them",
    PartitionsMoved: "export it with the version that changed it (`phaseline export FILE`), and import the file into a"
    " new installation (`phaseline import FILE`): ids, events and versions are kept, times and durations are not",
    WorkerFaults: "install the versions of libraries that Phaseline was tested with, or mend the rule that"
    " `event_parked` in the log names, then start workers again. Events that were rejected before:"
    " `phaseline rejections retry --reason fault`",
    Unsendable: "",
    EventRefused: "--force sends it anyway, to see the rejection",
}
"""By the class of an error, or the nearest class above."""
EXAMINED = (
    NoAnswer, UserRefused, TlsFailed, NotPermitted, NotProvisioned, ServerTooOld, JetStreamOff, NoJetStream,
    ServerRefused, LogDamaged,
)  # fmt: skip
"""The errors whose surroundings `phaseline doctor` shows."""


def remedy(error: BaseException) -> str:
    """What to do about an error; empty if its message says all."""
    return next((REMEDIES[one] for one in type(error).__mro__ if one in REMEDIES), "")

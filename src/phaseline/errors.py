"""The errors that Phaseline raises. Each is a `PhaselineError` with a `code`; its details are attributes.

docs/errors.md lists all of them. Most are one of seven groups: their codes tell them apart.

Belongs here: the public names of the errors; until the next version, the former names. Does not: their sentences
(`phaseline.schemas.errors`).
"""

import warnings
from typing import TYPE_CHECKING

from phaseline.schemas.errors import (
    AmbiguousId, ApiFailed, BadArchive, BadLogFile, BadSetting, EntityUnknown, EventRefused, Fenced, InvalidInput,
    LogDamaged, LogFileDamaged, NameUnknown, NatsUnreachable, NewerRecord, NoAnswer, NoJetStream, NoResponders, NoRoom,
    NoSuchStream, NotFound, NotInLog, NotInstalled, NotPermitted, NotProvisioned, PhaselineError, RequestTimedOut,
    ScriptStopped, ServerBug, ServerRefused, ServiceRefused, SetupError, TreeUnknown, Unconfirmed, Undecided,
)

__all__ = [
    "AmbiguousId", "ApiFailed", "BadArchive", "BadLogFile", "BadSetting", "EntityUnknown", "EventRefused", "Fenced",
    "InvalidInput", "LogDamaged", "LogFileDamaged", "NameUnknown", "NatsUnreachable", "NewerRecord", "NoAnswer",
    "NoJetStream", "NoResponders", "NoRoom", "NoSuchStream", "NotFound", "NotInLog", "NotInstalled", "NotPermitted",
    "NotProvisioned", "PhaselineError", "RequestTimedOut", "ScriptStopped", "ServerBug", "ServerRefused",
    "ServiceRefused", "SetupError", "TreeUnknown", "Unconfirmed", "Undecided",
]

_FORMER = """
ArchivedMeanwhile BadDepth BadEventFile BadManifest BadStatusQuery BadTables BadUserName CellsAway ClusterUnusable
ConnectionLost CopiesLate CopyBehind DataDirInUse DataDirUnusable DecisionStuck EdgeAccountMissing EdgeAnswerUnreadable
EdgeStoreMissing EntityNotYetKnown EventGone EventsNeeded FeedUnknown InboxRefused InletHoldsEvents InvalidId
JetStreamOff KeyUnreadable KindMissing KindsBroken LogEmptied NoLogFile NoRecords NoServerBinary NoState NoSuchTime
NotDecidedYet NotInCells NotObserved NotOwned NotRejected PartitionsDiffer PartitionsMoved PayloadTooLarge PlanLost
PortTaken PrefixTaken RecordNotFound RecordUnreadable ServerFailed ServerGone ServerTooOld StartAfterEnd StateUnknown
StatesStranded StreamFixed StreamUnchanged StreamsDiffer TablesDiffer TlsFailed TreeNotYetKnown Unsendable UserRefused
WorkerFaults WrongClock WrongIdLength
""".split()
"""The names that version 0.1 had classes for. Each stands for the group of the error."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> type[PhaselineError]:
        """The group of an error that had a class of its own."""
        from phaseline.schemas.errors import every

        code = "".join(f"-{one.lower()}" if one.isupper() else one for one in name).strip("-")
        found = next((type(one) for one in every() if one.code == code), None) if name in _FORMER else None
        if found is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        said = f"phaseline.errors.{name} is no class any more: catch {found.__name__}, whose code is {code!r}"
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        return found


for _name in __all__:
    globals()[_name].__module__ = __name__

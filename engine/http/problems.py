"""Errors as answers: problem+json (RFC 9457), with the sentence that the command prints.

Belongs here: the status of each error, the members of a problem. Does not: the errors (`engine.errors`,
`engine.request_errors`), sending (`app`).
"""

import re
from typing import Any

from phaseline.engine.error_help.remedies import remedy
from phaseline.engine.errors import (
    EventRefused,
    InvalidInput,
    LogDamaged,
    NoAnswer,
    NotFound,
    NotPermitted,
    PayloadTooLarge,
    PhaselineError,
    ServerRefused,
    SetupError,
    Unconfirmed,
    Undecided,
    Unsendable,
)
from phaseline.engine.log.archived.archive_errors import BadArchive, NotInLog
from phaseline.engine.request_errors import (
    BodyTooLarge,
    EventRejected,
    HostUnknown,
    KeysDiffer,
    MediaTypeUnknown,
    MethodNotAllowed,
    NotAllowed,
    NoToken,
    OtherSite,
    PlaceTrimmed,
    ServerBug,
    TooManyEvents,
    TooManyStreams,
)

TYPE = "urn:phaseline:problem:"
"""What the types of problems begin with; the name of the error's class follows, such as `entity-unknown`."""
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = "1"
"""Seconds after which a request whose answer is 503 or 504 may be sent again."""

STATUSES: dict[type[Exception], int] = {
    NoAnswer:         503,
    Unconfirmed:      504,
    Undecided:        504,
    NotFound:         404,
    PlaceTrimmed:     410,
    NotInLog:         410,
    BadArchive:       500,
    InvalidInput:     400,
    MethodNotAllowed: 405,
    NoToken:          401,
    NotAllowed:       403,
    OtherSite:        403,
    BodyTooLarge:     413,
    MediaTypeUnknown: 415,
    HostUnknown:      421,
    Unsendable:       400,
    EventRefused:     422,
    EventRejected:    422,
    KeysDiffer:       422,
    TooManyEvents:    429,
    TooManyStreams:   429,
    NotPermitted:     403,
    PayloadTooLarge:  413,
    SetupError:       500,
    ServerRefused:    502,
    LogDamaged:       500,
    PhaselineError:   500,
    Exception:        500,
}  # fmt: skip
"""The status of each error: that of its class, or of the nearest class above."""
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def status_of(error: Exception) -> int:
    """The status of an answer that tells of this error."""
    return next(STATUSES[one] for one in type(error).__mro__ if one in STATUSES)


def type_of(error: type[Exception]) -> str:
    """`EntityUnknown` -> `urn:phaseline:problem:entity-unknown`."""
    return TYPE + _WORDS.sub("-", error.__name__).lower()


def problem(error: Exception, instance: str) -> dict[str, Any]:
    """The body that tells of an error. A bug says nothing about the inside of the server. instance: the request."""
    status = status_of(error)
    if not isinstance(error, PhaselineError):
        error = ServerBug()
    members = {name: value for name, value in vars(error).items() if isinstance(value, str | int | float | None)}
    found = {
        **members, "type": type_of(type(error)), "title": _WORDS.sub(" ", type(error).__name__).lower(),
        "status": status, "detail": str(error), "instance": instance,
    }  # fmt: skip
    return found | ({"remedy": advice} if (advice := remedy(error)) else {})

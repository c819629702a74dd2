"""The exit codes of the command: one meaning for each code, one code for each error.

Belongs here: both tables, from which --help and docs/cli.md are made. Does not: messages (`cli.failures`).
"""

from enum import IntEnum

from phaseline.engine.errors import (
    InvalidInput,
    LogDamaged,
    NameUnknown,
    NoAnswer,
    NoJetStream,
    NotFound,
    NotPermitted,
    ServerRefused,
    SetupError,
    UserRefused,
)
from phaseline.engine.request_errors import ServerBug
from phaseline.schemas.upcasting import NewerRecord


class Exit(IntEnum):
    """The exit codes."""

    DONE = 0
    NO = 1
    WRONG_INPUT = 2
    NO_ANSWER = 3
    NOT_FOUND = 4
    NOT_ALLOWED = 5
    NOT_SET_UP = 6
    BUG = 70
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.DONE:        "success",
    Exit.NO:          "the answer is no: an event is rejected, a check fails, something differs",
    Exit.WRONG_INPUT: "the command line, a setting or a file is wrong: correct it",
    Exit.NO_ANSWER:   "no answer in time: NATS cannot be reached, or no worker has decided; try again",
    Exit.NOT_FOUND:   "not found: no such entity, tree, record or event",
    Exit.NOT_ALLOWED: "not allowed: the server does not know this user, or refuses what the user asks for",
    Exit.NOT_SET_UP:  "not set up: the server, the installation or this machine must be changed",
    Exit.BUG:         "an error in phaseline: please report it",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
}  # fmt: skip

BY_ERROR: dict[type[Exception], Exit] = {
    NoAnswer:      Exit.NO_ANSWER,
    NoJetStream:   Exit.NOT_SET_UP,
    NotFound:      Exit.NOT_FOUND,
    NameUnknown:   Exit.WRONG_INPUT,
    InvalidInput:  Exit.WRONG_INPUT,
    SetupError:    Exit.NOT_SET_UP,
    UserRefused:   Exit.NOT_ALLOWED,
    NotPermitted:  Exit.NOT_ALLOWED,
    ServerRefused: Exit.NOT_SET_UP,
    LogDamaged:    Exit.NOT_SET_UP,
    NewerRecord:   Exit.NOT_SET_UP,
    OSError:       Exit.NOT_SET_UP,
    ServerBug:     Exit.BUG,
    Exception:     Exit.BUG,
}  # fmt: skip
"""The code of each error: that of its class, or of the nearest class above."""


def code_of(error: Exception) -> Exit:
    """The exit code of a command that ends with this error."""
    return next(BY_ERROR[one] for one in type(error).__mro__ if one in BY_ERROR)

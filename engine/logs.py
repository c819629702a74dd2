"""Where log events go: to the standard library's `logging`, or through structlog in the processes of the command.

Belongs here: `get_logger`, which every module that logs uses, and the switch. Does not: what the command prints of them
(`cli.terminal`), the list of events (docs/operating.md).

A program that uses the client decides by `logging` what it sees of us. Until it does, nothing is printed.
"""

import logging
from collections.abc import Callable
from typing import Any

logging.getLogger("phaseline").addHandler(logging.NullHandler())
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Logger:
    """Logs events, which are words in snake_case, with fields."""

    _least: int | None = None
    """The level from which on events go through structlog; None: they go to `logging`."""
    _configure: Callable[[], None] | None = None
    """Sets structlog up, until the first event was logged."""

    def __init__(self, name: str) -> None:
        """`name`: that of the module."""
        self._name, self._plain = name, logging.getLogger(name)

    def debug(self, event: str, **fields: Any) -> None:
        """What helps in finding an error."""
        self._log("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """What happens in the normal course of things."""
        self._log("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """What may need a person."""
        self._log("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """What needs a person."""
        self._log("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """As `error`, with the traceback of the error that is being handled."""
        self._log("error", event, {"exc_info": True, **fields})

    def _log(self, level: str, event: str, fields: dict[str, Any]) -> None:
        number = LEVELS[level]
        if self._least is not None:
            if number >= self._least:
                getattr(_structured(self._name), level)(event, **fields)
        elif self._plain.isEnabledFor(number):
            traceback = fields.pop("exc_info", None)
            words = " ".join([event, *(f"{name}={_shown(value)}" for name, value in fields.items())])
            extra = {"event": event, **fields}
            self._plain.log(number, "%s", words, exc_info=traceback, extra=extra, stacklevel=3)


def get_logger(name: str) -> Logger:
    """The logger of a module."""
    return Logger(name)


def through_structlog(least: int = logging.DEBUG, configure: Callable[[], None] | None = None) -> None:
    """Let all events of this process from level `least` on go through structlog from now on.

    configure: sets structlog up. It is called before the first event: most commands log nothing.
    """
    Logger._least, Logger._configure = least, configure  # noqa: SLF001  # a switch of the process


def _structured(name: str) -> Any:
    """The logger of structlog with this name."""
    import structlog  # noqa: PLC0415  # it takes long to load, and programs without the command do not need it

    if Logger._configure is not None:  # noqa: SLF001  # as above
        Logger._configure()  # noqa: SLF001
        Logger._configure = None  # noqa: SLF001
    return structlog.get_logger(name)


def _shown(value: object) -> str:
    """A value as it is; a text with blanks in quotes, and anything with control characters as escapes."""
    text = str(value)
    needs_quotes = isinstance(value, str) and (not text or set(text) & set(" ='\"\\"))
    return repr(text) if needs_quotes or not text.isprintable() else text

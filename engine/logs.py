"""Where log events go: to the standard library's `logging`, or through structlog in the processes of the command.

Belongs here: `get_logger`, which every module that logs uses, and the switch. Does not: what the command prints of them
(`surfaces.cli.terminal`), the list of events (docs/watch-over.md).

A program that uses the client decides by `logging` what it sees of us. Until it does, nothing is printed.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

logging.getLogger("phaseline").addHandler(logging.NullHandler())
LONGEST, TRACEBACK = 2_000, 20_000
"""The most characters of a field of a line, and of a traceback: what others sent may stand there."""
PAUSE = 1.0
"""Seconds between two lines of one library that we use."""
_PLAIN = (int, float, bool, type(None))
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
        for name, value in fields.items():
            if type(value) not in _PLAIN and name != "exc_info":
                fields[name] = bounded(value)
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


log = get_logger(__name__)


def through_structlog(least: int = logging.DEBUG, configure: Callable[[], None] | None = None) -> None:
    """Let all events of this process from level `least` on go through structlog from now on.

    configure: sets structlog up. It is called before the first event: most commands log nothing.
    """
    Logger._least, Logger._configure = least, configure  # noqa: SLF001  # a switch of the process
    if not any(isinstance(one, _Others) for one in logging.getLogger().handlers):
        logging.getLogger().addHandler(_Others(logging.WARNING))


class _Others(logging.Handler):
    """Lets what the libraries log that we use go the same way, as fields of a line, and not more than one a second."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._told = dict[str, tuple[float, int]]()
        """By library: when it was heard last, and how often since then in vain."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == "phaseline" or Logger._least is None:  # noqa: SLF001
            return
        told, more = self._told.get(record.name, (-PAUSE, 0))
        if time.monotonic() - told < PAUSE:
            self._told[record.name] = told, more + 1
            return
        self._told[record.name] = time.monotonic(), 0
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        log.warning(
            "library_told", library=record.name, level_there=record.levelname, text=text, more=more,
            exc_info=record.exc_info or None,
        )  # fmt: skip


def bounded(value: object, most: int = LONGEST) -> Any:
    """A value for a line of the log, or the beginning of its text if that is long."""
    text = value if isinstance(value, str) else str(value)
    return value if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


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

"""Messages and log lines on stderr, and how far a long read is.

Belongs here: how they look. Does not: data on stdout (`render`), errors (`failures`), bars of what has a known end
(`log_source`).
"""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TextIO

import click

from phaseline.engine import logs
from phaseline.engine.surfaces.cli.controls import plain, plain_event


def styled(text: str, colour: str) -> str:
    """The text in colour if stderr is a terminal and NO_COLOR is not set."""
    return click.style(text, fg=colour, bold=True) if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else text


def without_time(count: int) -> None:
    """Say how many records had no time of their own by the publishers' clock, if any."""
    if count:
        have = "record has no time of its own" if count == 1 else "records have no time of their own"
        say(f"{count:,} {have}: the server's counts there")


def say(text: str, mark: str = "") -> None:
    """Print one line on stderr. mark: what stands before the text, and may have a colour."""
    print(f"{mark}{plain(text)}", file=sys.stderr, flush=True)


def run(work: Coroutine[Any, Any, int | None]) -> int | None:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)


def log_like_a_server(*, quiet: bool = False) -> None:
    """Log readable lines on a terminal, JSON otherwise. For commands that run until they are stopped.

    quiet: log warnings and errors only, unless -v asks for all; on a terminal in words for people.
    """
    in_words = quiet and not is_verbose() and sys.stderr.isatty()
    least = logging.WARNING if quiet and not in_words else logging.INFO  # words tell too that a trouble is over
    log_to_stderr(verbose=is_verbose(), least=least, lines_of_json=not sys.stderr.isatty(), in_words=in_words)


def is_verbose() -> bool:
    """Whether the command was called with -v."""
    return bool(click.get_current_context().params.get("verbose"))


def log_to_stderr(
    *, verbose: bool = False, least: int = logging.WARNING, lines_of_json: bool = False, in_words: bool = False
) -> None:
    """Log to stderr from level `least` on: readable lines, JSON for log collectors, or words for people."""
    least = logging.DEBUG if verbose else least
    stream, colours = sys.stderr, sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    logs.through_structlog(
        least, lambda: _configure(stream, least, colours, lines_of_json=lines_of_json, in_words=in_words)
    )


def _bounded_traceback(_: object, __: str, event: Any) -> Any:
    """Keep the end of a traceback, which says most."""
    if len(found := event.get("exception") or "") > logs.TRACEBACK:
        event["exception"] = f"({len(found):,} characters) ...{found[-logs.TRACEBACK :]}"
    return event


def _configure(stream: TextIO, least: int, colours: bool, *, lines_of_json: bool, in_words: bool) -> None:
    """Set structlog up to print on this stream."""
    import structlog  # noqa: PLC0415  # it takes long to load, and most commands log nothing

    last: Any
    if in_words:
        from phaseline.engine.surfaces.cli.incidents import Incidents  # noqa: PLC0415  # few commands need it

        incidents = Incidents()

        def in_a_line(_: object, method: str, event: Any) -> str:
            if (line := incidents.line(method, event)) is None:
                raise structlog.DropEvent
            return line

        last = in_a_line
    elif lines_of_json:
        last = structlog.processors.JSONRenderer()
    else:
        last = structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _bounded_traceback,
            *([] if lines_of_json else [plain_event]),
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )


SLOW = 2.0
"""Seconds between two lines about a long read."""


def when_slow(doing: str, what: str) -> Callable[[int], None]:
    """A callback that takes how many were read, and says so every few seconds: `reading: 1,200 entities so far`."""
    last = time.monotonic()

    def progress(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > SLOW:
            last = time.monotonic()
            say(f"{doing}: {count:,} {what} so far")

    return progress

"""Messages on stderr: errors in one line each, log lines; and the exit codes.

Belongs here: how errors and logs look. Does not: data on stdout (`render`), the errors (`phaseline.engine.errors`).
"""

import asyncio
import logging
import os
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

import click
import structlog

from phaseline.engine import logs
from phaseline.engine.cli.controls import plain, plain_event, plain_lines
from phaseline.engine.errors import (
    EventRefused,
    NatsUnreachable,
    NoAnswer,
    NotPermitted,
    PhaselineError,
    TablesDiffer,
    Unsendable,
)

REFUSED, UNREACHABLE, INTERRUPTED = 1, 3, 130

HINTS: dict[type[PhaselineError], str] = {
    NatsUnreachable: "start a server with `phaseline up`, or give the URL of another with --nats or PHASELINE_NATS;"
    " `phaseline doctor` looks closer",
    NoAnswer: "`phaseline doctor` shows what does not answer",
    NotPermitted: "`phaseline doctor` shows who you are for the server, and what you may do",
    TablesDiffer: "`phaseline replay --with installed` shows what would differ; to continue with the tables installed"
    " here, stop the workers that have the others, and start with --accept-tables and this digest",
    EventRefused: "--force sends it anyway, to see the rejection",
    Unsendable: "",
}

NO_KEY = (
    "this server takes only users that it knows: give --nkey or --creds. If it is the server of a `phaseline up`, it "
    "belongs to another user, or started with another state directory (XDG_STATE_HOME)"
)
"""What to do where a server refuses a user."""


def guarded(function: Callable[[], int | None], *, verbose: bool) -> int:
    """Call `function` and return the exit code; an error is printed on stderr."""
    try:
        code = function() or 0
        sys.stdout.flush()
    except PhaselineError as error:
        say_error(error, verbose=verbose)
        return UNREACHABLE if isinstance(error, NoAnswer) else REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it. What is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001  # a bug is reported like any other error
        say_error(error, verbose=verbose)
        return REFUSED
    return code


def say_error(error: BaseException, *, verbose: bool) -> None:
    """Print the error, its causes and what to do: one line each; the traceback only if `verbose`."""
    if verbose:
        print(plain_lines("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    ours = isinstance(error, PhaselineError)
    message = str(error) if ours else f"internal error, please report it: {type(error).__name__}: {error}"
    say(message, styled("error: ", "red"))
    cause = error.__cause__
    while cause is not None:
        text = (cause.strerror if isinstance(cause, OSError) else "") or str(cause) or type(cause).__name__
        if text not in message:
            say(f"  cause: {text}")
            message += text
        cause = cause.__cause__
    hint = "" if ours or verbose else "-v shows the traceback"
    if isinstance(error, PhaselineError):
        hint = NO_KEY if "authorization violation" in message.lower() else _hint_for(error)
    if hint:
        say(f"  {hint}")


def _hint_for(error: PhaselineError) -> str:
    """What to do about an error: the hint of its class, or of the nearest class above."""
    return next((HINTS[one] for one in type(error).__mro__ if one in HINTS), "")


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

    quiet: log warnings and errors only, unless -v asks for all.
    """
    least = logging.WARNING if quiet else logging.INFO
    log_to_stderr(verbose=is_verbose(), least=least, lines_of_json=not sys.stderr.isatty())


def is_verbose() -> bool:
    """Whether the command was called with -v."""
    return bool(click.get_current_context().params.get("verbose"))


def log_to_stderr(*, verbose: bool = False, least: int = logging.WARNING, lines_of_json: bool = False) -> None:
    """Log to stderr from level `least` on: readable lines, or JSON for log collectors."""
    terminal = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    last: Any = structlog.processors.JSONRenderer()
    if not lines_of_json:
        last = structlog.dev.ConsoleRenderer(colors=terminal, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *([] if lines_of_json else [plain_event]),
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    logs.through_structlog()

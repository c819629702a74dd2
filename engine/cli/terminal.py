"""Talk with the person: what goes wrong in one line, log lines, exit codes. All of it on stderr.

Belongs here: how errors and logs look. Does not: data (`looks`), what the errors are (`phaseline.engine.errors`).
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

from phaseline.engine.errors import EventRefused, NatsUnreachable, NoAnswer, PhaselineError, TablesDiffer
from phaseline.schemas.upcasting import NewerRecord

REFUSED, UNREACHABLE, INTERRUPTED = 1, 3, 130

HINTS: dict[type[PhaselineError], str] = {
    NatsUnreachable: "is it running? `phaseline up` starts one; --nats or PHASELINE_NATS says where another is",
    TablesDiffer: "`phaseline replay --with installed` shows what would differ; to go on by these tables, stop the workers that"
    " have the others and start with --accept-tables and that digest",
    EventRefused: "--force sends it all the same, to see the rejection",
}


def guarded(function: Callable[[], int | None], *, verbose: bool) -> int:
    """Call `function`; the exit code, with what went wrong said on stderr."""
    try:
        code = function() or 0
        sys.stdout.flush()
    except PhaselineError as error:
        say_error(error, verbose=verbose)
        return UNREACHABLE if isinstance(error, NoAnswer) else REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough. What is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001  # a bug is told like any other error
        say_error(error, verbose=verbose)
        return REFUSED
    return code


def say_error(error: BaseException, *, verbose: bool) -> None:
    """What is wrong, what is behind it, what to do: one line each; the traceback only where asked for."""
    if verbose:
        traceback.print_exception(error, file=sys.stderr)
    ours = isinstance(error, PhaselineError | NewerRecord)
    message = str(error) if ours else f"this is a bug: {type(error).__name__}: {error}"
    say(f"{styled('error:', 'red')} {message}")
    cause = error.__cause__
    while cause is not None:
        text = (cause.strerror if isinstance(cause, OSError) else "") or str(cause) or type(cause).__name__
        if text not in message:
            say(f"  because {text}")
            message += text
        cause = cause.__cause__
    hint = HINTS.get(type(error)) if ours else "-v shows where" if not verbose else None  # type: ignore[arg-type]  # ours
    if hint:
        say(f"  {hint}")


def styled(text: str, colour: str) -> str:
    """Colour for a terminal, unless NO_COLOR is set."""
    return click.style(text, fg=colour, bold=True) if sys.stderr.isatty() and not os.environ.get("NO_COLOR") else text


def say(text: str) -> None:
    """One line for the person."""
    print(text, file=sys.stderr, flush=True)


def run(work: Coroutine[Any, Any, int | None]) -> int | None:
    """Run a command's coroutine to its end."""
    return asyncio.run(work)


def log_to_stderr(*, verbose: bool = False, quiet: int = logging.WARNING, lines_of_json: bool = False) -> None:
    """Log lines go to stderr, from level `quiet` on: readable ones, or JSON for collectors."""
    terminal = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    last: Any = structlog.processors.JSONRenderer() if lines_of_json else structlog.dev.ConsoleRenderer(colors=terminal)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([structlog.processors.format_exc_info] if lines_of_json else []),
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else quiet),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )

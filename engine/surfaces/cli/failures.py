"""Errors on stderr: what is wrong in one line, what to do in the next; and the exit code.

Belongs here: how an error looks. Does not: the errors, what to do about them, their codes
(`phaseline.schemas.errors`).
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from phaseline.engine.settings import DEFAULT_URL
from phaseline.engine.surfaces.cli.controls import plain_lines
from phaseline.engine.surfaces.cli.terminal import say, styled
from phaseline.engine.surfaces.client import nats_context
from phaseline.schemas.errors import Exit, NatsUnreachable, PhaselineError, exit_of

DOCTOR = "`phaseline doctor` looks closer"
ROOT = Path(__file__).parents[3]
"""The folder of the package."""


def guarded(function: Callable[[], int | None], *, verbose: bool) -> int:
    """Call `function` and return the exit code; an error is printed on stderr."""
    try:
        code = function() or Exit.DONE
        sys.stdout.flush()
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has closed it
        return Exit.DONE
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001  # a bug is reported like any other error
        say_error(error, verbose=verbose)
        return exit_of(error)
    return code


def say_error(error: Exception, *, verbose: bool) -> None:
    """Print the error, its causes and what to do: one line each; the traceback only if `verbose`."""
    if verbose:
        print(plain_lines("".join(traceback.format_exception(error))), end="", file=sys.stderr)

    message = text_of(error)
    say(message, styled("error: ", "red"))
    for text in _causes(error):
        if text not in message:
            say(f"  cause: {text}")
            message += text
    context = hint_of_context(error.url) if isinstance(error, NatsUnreachable) else ""
    for hint in (
        *getattr(error, "__notes__", ()),
        *((error.remedy, context, DOCTOR if error.doctor else "") if isinstance(error, PhaselineError) else ()),
    ):
        if hint:
            say(f"  {hint}")


def hint_of_context(url: str) -> str:
    """What to say where the default server cannot be reached, and the `nats` command has another one selected."""
    name = nats_context.selected() if url == DEFAULT_URL else None
    return f"the nats command has the context {name} selected: --context {name} uses it" if name else ""


def text_of(error: BaseException) -> str:
    """What is wrong, for people: without names of Python."""
    if isinstance(error, PhaselineError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    said = f": {error}" if str(error) else ""
    return f"internal error {_place(error)}{said}; please report it, with what -v shows"


def _causes(error: BaseException) -> Iterator[str]:
    """What the errors below this one say to people."""
    cause = error.__cause__
    while cause is not None:
        if isinstance(cause, PhaselineError):
            yield str(cause)
        elif isinstance(cause, OSError) and cause.strerror:
            yield cause.strerror
        cause = cause.__cause__


def _place(error: BaseException) -> str:
    """Where in the package an error was raised: `in cli/get.py, line 12`."""
    frames = traceback.extract_tb(error.__traceback__)
    files = [(Path(frame.filename), frame.lineno) for frame in frames if frame.filename != __file__]
    ours = [(path.relative_to(ROOT), line) for path, line in files if path.is_relative_to(ROOT)]
    return f"in {ours[-1][0]}, line {ours[-1][1]}" if ours else "outside of phaseline"

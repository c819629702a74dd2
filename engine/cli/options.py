"""What commands share: options of the connection, how they begin and how they end.

Belongs here: options that several commands have, types of their values. Does not: what a command does.
"""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import click

from phaseline.engine.cli import terminal
from phaseline.engine.cli.help import Shared
from phaseline.engine.errors import BadSetting, NameUnknown
from phaseline.engine.log.when import NOW, START, Time, parse
from phaseline.engine.settings import Settings, from_words

P = ParamSpec("P")
Function = Callable[..., int | None]
FILE = click.Path(dir_okay=False, path_type=Path)
SHARED = {
    #                 words                                                              type    default
    "nats": ("URL of a NATS server; several, separated by commas, of one cluster.", str, "nats://127.0.0.1:4222"),
    "creds": ("File with a user's JWT and key.", FILE, None),
    "nkey": ("File with a user's nkey seed.", FILE, None),
    "tls_ca": ("File with the certificates to trust; asks for TLS.", FILE, None),
    "tls_cert": ("File with the certificate to show; with --tls-key.", FILE, None),
    "tls_key": ("File with its key.", FILE, None),
    "inbox_prefix": ("Where answers come back, for users who may not subscribe to _INBOX.>.", str, "_INBOX"),
    "timeout": ("Seconds to wait for the server.", float, 5.0),
    "prefix": ("Which installation: the first word of its subjects.", str, "pl"),
}


def option(name: str) -> Callable[[Function], Function]:
    """One shared option, with its twin in the environment."""
    words, type_, default = SHARED[name]
    flag, twin = f"--{name.replace('_', '-')}", f"PHASELINE_{name.upper()}"
    return click.option(
        flag,
        name,
        cls=Shared,
        type=type_,
        default=default,
        envvar=twin,
        help=words,
        show_envvar=True,
        show_default=True,
    )


def verbose(function: Function) -> Function:
    """`-v`, and errors told in one line. For commands without a connection."""
    flag = click.option(
        "-v", "--verbose", cls=Shared, is_flag=True, envvar="PHASELINE_VERBOSE", show_envvar=True,
        help="Show what goes on, and tracebacks.",
    )  # fmt: skip

    @functools.wraps(function)
    def call(*, verbose: bool, **values: Any) -> None:
        terminal.log_to_stderr(verbose=verbose)
        code = terminal.guarded(lambda: function(**values), verbose=verbose)
        click.get_current_context().exit(code)

    return flag(call)


def connected(function: Function) -> Function:
    """All shared options; `function` gets them as `settings`."""

    @functools.wraps(function)
    def call(**values: Any) -> int | None:
        return function(settings=settings_of(values), **values)

    wrapped = verbose(call)
    for name in reversed(SHARED):
        wrapped = option(name)(wrapped)
    return wrapped


def settings_of(values: dict[str, Any]) -> Settings:
    """Take the shared options out of `values`; a wrong one is a wrong command line."""
    words = {name: values.pop(name) for name in SHARED if name in values}
    if "timeout" in words:
        words["connect_timeout"] = words["request_timeout"] = words.pop("timeout")
    try:
        return from_words(**words)
    except BadSetting as error:
        name = {"connect_timeout": "timeout", "request_timeout": "timeout"}.get(error.name, error.name)
        raise click.BadParameter(str(error.problem), param_hint=f"--{name.replace('_', '-')}") from error


as_json = click.option("--json", "as_json", is_flag=True, help="JSON for programs: one object, or one per line.")
language = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", envvar="PHASELINE_LANG", show_envvar=True,
    show_default=True, help="Language of the labels.",
)  # fmt: skip


def at(function: Function) -> Function:
    """`--at`: as of a moment; `function` gets it as `at`, None for the latest states."""
    flag = click.option("--at", type=WhenType(), metavar="MOMENT",
                        help="As it was then: a place in the log, a time, or how long ago (15m).")  # fmt: skip

    @functools.wraps(function)
    def call(*, at: Any, **values: Any) -> int | None:
        return function(at=None if at == NOW else at, **values)

    return flag(call)


class JsonObject(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A JSON object on the command line."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """The object as a map."""
        if isinstance(value, dict):
            return value
        try:
            found = json.loads(value)
        except ValueError as error:
            self.fail(f"this is no JSON: {error}", param, ctx)
        if not isinstance(found, dict):
            self.fail(f"""must be a JSON object, like '{{"reason": "KubeletStopped"}}', found {value!r}""", param, ctx)
        return found


class WhenType(click.ParamType):  # type: ignore[type-arg]  # as above
    """A `When` on the command line. How long ago is counted from here on, so that a command has one moment only."""

    name = "where"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`start` and `now` as they are, a place, or a `datetime`."""
        if not isinstance(value, str) or value in (START, NOW):
            return value
        try:
            found = parse(value)
        except NameUnknown as error:
            self.fail(f"{value!r} is none of: {error.known}", param, ctx)
        return found.as_datetime() if isinstance(found, Time) else found

"""The options of the connection. They can stand before the command too, and be set in the environment.

Belongs here: these options. Does not: the settings made of them (`options`), contexts of the nats command
(`client.nats_context`).
It loads little, because `phaseline --help` needs it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from phaseline.engine.settings import DEFAULT_TIMEOUT
from phaseline.engine.surfaces.cli.help import Function, option


class ContextType(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """The name of a context. A shell offers those that exist."""

    name = "name"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # as click calls it
        param: click.Parameter,  # noqa: ARG002  # likewise
        incomplete: str,
    ) -> list[CompletionItem]:
        """The names that begin with what was typed."""
        from phaseline.engine.surfaces.client import nats_context  # noqa: PLC0415  # as the module says

        known = (nats_context.SELECTED, *nats_context.names())
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]


FILE = click.Path(dir_okay=False, path_type=Path)
CONNECTION: dict[str, tuple[str, Any, Any, str]] = {
    #                help                                                                    type  default  value
    "nats": ("URL of a NATS server. Separate several servers of a cluster by commas.", str, "nats://127.0.0.1:4222",
             "URL"),
    "context": ("Context of the nats command that describes the connection; @selected is the selected one.",
                ContextType(), None, "NAME"),
    "creds": ("Credentials file, with a user's JWT and key.", FILE, None, "FILE"),
    "nkey": ("File with a user's nkey seed.", FILE, None, "FILE"),
    "tls_ca": ("File with the CA certificates to trust. Requires TLS.", FILE, None, "FILE"),
    "tls_cert": ("File with the client certificate. Needs --tls-key.", FILE, None, "FILE"),
    "tls_key": ("File with the key of the client certificate.", FILE, None, "FILE"),
    "message_id_key": ("File with a secret that publishers of the same events share.", FILE, None, "FILE"),
    "inbox_prefix": ("Subject prefix of replies, for users who may not subscribe to _INBOX.>.", str, "_INBOX",
                     "SUBJECT"),
    "api_prefix": ("Subject prefix of the JetStream API, for users in an account that imports it.", str, "$JS.API",
                   "SUBJECT"),
    "timeout": ("Seconds to wait for the server.", float, DEFAULT_TIMEOUT, "SECONDS"),
    "prefix": ("Prefix of the installation: the first word of its subjects.", str, "pl", "NAME"),
}  # fmt: skip
ALSO = {"nats": "--server"}
"""A second word of an option: the one of the nats command."""


def flag(name: str) -> str:
    """The option of that name: `tls_ca` -> `--tls-ca`."""
    return f"--{name.replace('_', '-')}"


def variable(name: str) -> str:
    """The environment variable of that option: `tls_ca` -> `PHASELINE_TLS_CA`."""
    return f"PHASELINE_{name.upper()}"


def connection_option(name: str) -> Callable[[Function], Function]:
    """One option of the connection."""
    help_, type_, default, value = CONNECTION[name]
    flags = (*((ALSO[name],) if name in ALSO else ()), flag(name))
    is_eager = name == "prefix"  # it says which kinds there are, before their names are read
    return option("connection", *flags, name, type=type_, default=default, envvar=variable(name), help=help_,
                  show_default=True, metavar=value, is_eager=is_eager)  # fmt: skip


verbose = option("connection", "-v", "--verbose", is_flag=True, envvar="PHASELINE_VERBOSE",
                 help="Log more, and show the tracebacks of errors.")  # fmt: skip


def options(function: Function) -> Function:
    """Add all of them, as they are."""
    function = verbose(function)
    for name in reversed(CONNECTION):
        function = connection_option(name)(function)
    return function

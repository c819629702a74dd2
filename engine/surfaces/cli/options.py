"""What commands share: options, the types of their values, and how a command begins.

Belongs here: options that several commands have. Does not: what a command does; errors and exit codes (`failures`).
"""

import functools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem
from msgspec.structs import replace

from phaseline.engine.log.when import A_MOMENT, NOW, START, Time, parse, seconds_of
from phaseline.engine.nats.embedded.server_key import with_key
from phaseline.engine.settings import Settings, from_options
from phaseline.engine.surfaces.cli import connection, failures, terminal
from phaseline.engine.surfaces.cli.connection import CONNECTION, flag, variable
from phaseline.engine.surfaces.cli.contexts import with_context
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.cli.output import JSON, MEANINGS, PEOPLE, Output
from phaseline.machines.language.language_tags import LOCALES, as_tag, is_tag, of_terminal
from phaseline.schemas import codec, envelope
from phaseline.schemas.cloudevents import extensions
from phaseline.schemas.errors import BadSetting, InvalidInput, NameUnknown
from phaseline.schemas.records import timestamp
from phaseline.schemas.similar import did_you_mean

_NANOSECONDS = re.compile(r"\.\d{7}")
"""In a time: a fraction of more than six digits."""


def verbose(function: Function) -> Function:
    """Add `-v`, and print errors in one line each. For commands without a connection."""
    return connection.verbose(_guarded(function))


def connected_plainly(function: Function) -> Function:
    """Add all options of the connection, as they are, and those of `verbose`. Wrong names are said before it asks."""

    @functools.wraps(function)
    def call(**values: Any) -> int | None:
        from phaseline.engine.surfaces.cli import names  # noqa: PLC0415  # it imports this module

        names.check(values)
        return function(**values)

    return connection.options(_guarded(call))


def _guarded(function: Function) -> Function:
    @functools.wraps(function)
    def call(*, verbose: bool, **values: Any) -> None:
        terminal.log_to_stderr(verbose=verbose)
        code = failures.guarded(lambda: function(**values), verbose=verbose)
        click.get_current_context().exit(code)

    return call


def connected(function: Function) -> Function:
    """Add all options of the connection; `function` gets them as `settings`."""

    @functools.wraps(function)
    def call(**values: Any) -> int | None:
        # it loads all tables; --help does not need them
        from phaseline.engine.surfaces.cli import broken_kinds  # noqa: PLC0415

        settings = settings_of(values)
        broken_kinds.warn()
        return function(settings=settings, **values)

    return connected_plainly(call)


def settings_of(values: dict[str, Any]) -> Settings:
    """Take the options of the connection out of `values`; a wrong one is a wrong command line."""
    chosen = {name: values.pop(name) for name in CONNECTION if name in values}
    try:
        return settings_from(with_context(chosen, {name: entry[2] for name, entry in CONNECTION.items()}))
    except BadSetting as error:
        name = {"connect_timeout": "timeout", "request_timeout": "timeout"}.get(error.name, error.name)
        raise click.BadParameter(error.problem, param_hint=flag(name)) from error


def settings_from(chosen: dict[str, Any]) -> Settings:
    """The settings of these options, with the key of our own server; raises `BadSetting`."""
    if "timeout" in chosen:
        chosen["connect_timeout"] = chosen["request_timeout"] = chosen.pop("timeout")
    return with_key(from_options(**chosen))


class FormType(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A form of output on the command line."""

    name = "form"

    def __init__(self, forms: Sequence[str]) -> None:
        self.forms = forms

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """`[json|yaml]`."""
        return f"[{'|'.join(self.forms)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form; an unknown one is answered with the most similar one."""
        word = str(value).strip().lower()
        if word not in self.forms:
            known = ", ".join(self.forms)
            no = "this command has no form" if word in MEANINGS else "there is no form"
            self.fail(f"{no} {value!r}{did_you_mean(word, self.forms)}; there are: {known}", param, ctx)
        return word

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # as click calls it
        param: click.Parameter,  # noqa: ARG002  # likewise
        incomplete: str,
    ) -> list[CompletionItem]:
        """The forms that begin with what was typed."""
        return [CompletionItem(one, help=MEANINGS[one]) for one in self.forms if one.startswith(incomplete)]


def output(
    *forms: str, flags: Sequence[str] = ("-o", "--output"), name: str = "output"
) -> Callable[[Function], Function]:
    """Add `-o` with these forms beside the one for people, and `--json`; `function` gets an `Output` by that name."""
    meanings = ", ".join(f"{form}: {MEANINGS[form]}" for form in forms)
    choice = option("output", *flags, "form", type=FormType(forms), help=f"The form of the output. {meanings}.")
    json_ = option("output", "--json", "as_json", is_flag=True, help="The same as -o json.")

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*, form: str | None, as_json: bool, **values: Any) -> int | None:
            if as_json and form not in (None, JSON):
                raise click.UsageError(f"give either --json or -o {form}")
            with Output(JSON if as_json else form or PEOPLE) as shown:
                return function(**{name: shown}, **values)

        return choice(json_(call))

    return decorate


include_deleted = option("selection", "--all", "deleted", is_flag=True, help="Include deleted entities.")


class LanguageType(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A language, by its tag."""

    name = "tag"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the tag. That of a locale is taken too, such as `pt_BR.UTF-8`."""
        tag = as_tag(value)
        if not is_tag(tag):
            self.fail(f"{value!r} is no language: write a tag such as en, zh or pt-BR", param, ctx)
        return tag

    def shell_complete(self, _ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The languages of the labels of the installed kinds."""
        from phaseline.machines.built_in import installed  # noqa: PLC0415  # slow, and needed for completion only
        from phaseline.machines.compiler.labels import languages  # noqa: PLC0415  # as above

        return [CompletionItem(tag) for tag in languages(installed().values()) if tag.startswith(incomplete)]


language = option(
    "reading", "--lang", type=LanguageType(), default=lambda: of_terminal(os.environ), envvar="PHASELINE_LANG",
    show_default=f"that of {', '.join(LOCALES)}",
    help="Language of the labels, such as zh or pt-BR. A label that has none in it is shown in English.",
)  # fmt: skip


clock = option(
    "reading", "--clock", type=click.Choice(["server", "event"]), default="server", show_default=True,
    help="Order and measure by the time when the server stored the event, or by the one that its publisher gave.",
)  # fmt: skip


def at(function: Function) -> Function:
    """Add `--at`; `function` gets the moment as `at`, None for the latest states."""
    add = option(
        "reading",
        "--at",
        type=WhenType(),
        metavar="MOMENT",
        help=f"Show the states at this moment: {A_MOMENT}.",
    )

    @functools.wraps(function)
    def call(*, at: Any, **values: Any) -> int | None:
        return function(at=None if at == NOW else at, **values)

    return add(call)


READING: dict[str, dict[str, Any]] = {
    "archive": {
        "metavar": "DIR",
        "help": "Folder or URL of an archive: what `phaseline log archive` took out of the log is read too.",
    },
}
"""The options of all commands that read the log: by the name of the setting."""


def of_readers(function: Function) -> Function:
    """Add the options of all commands that read the log, as they are."""
    for name, details in reversed(READING.items()):
        function = option("reading", flag(name), name, envvar=variable(name), **details)(function)
    return function


def archived(function: Function) -> Function:
    """Add `of_readers`; `function` gets them in its settings. Put it below `connected`."""

    @functools.wraps(function)
    def call(*, settings: Settings, **values: Any) -> int | None:
        read = {name: values.pop(name) for name in READING}
        return function(settings=replace(settings, **read), **values)

    return of_readers(call)


class JsonObject(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A JSON object on the command line."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """The object as a map."""
        if isinstance(value, dict):
            return value
        try:
            decoded = codec.decode_text(value)
        except ValueError as error:
            self.fail(f"not valid {error}", param, ctx)
        if not isinstance(decoded, dict):
            self.fail(f"""must be a JSON object, like '{{"reason": "KubeletStopped"}}', found {value!r}""", param, ctx)
        return decoded


class ExtensionType(click.ParamType):  # type: ignore[type-arg]  # as above
    """An extension attribute of CloudEvents on the command line: `traceparent=00-...`."""

    name = "extension"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:  # fmt: skip
        """Its name and its text."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not equals or not text:
            self.fail(f"{value!r} has no value: write NAME=VALUE", param, ctx)
        if name in envelope.KNOWN:
            known = ", ".join(sorted(envelope.KNOWN))
            self.fail(f"{name!r} is no extension: the envelope itself has {known}", param, ctx)
        if not extensions.is_name(name):
            self.fail(f"{name!r} is no name of an extension: names are of a-z and 0-9, at most 64 of them", param, ctx)
        return name, text


class SecondsType(click.ParamType):  # type: ignore[type-arg]  # as above
    """A time span on the command line, such as `120s` or `5m`, as seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        seconds = seconds_of(value) if isinstance(value, str) else float(value)
        if seconds is None:
            self.fail(f"{value!r} is no time: write seconds, or a number with s, m, h or d, like 5m", param, ctx)
        return seconds


class SizeType(click.ParamType):  # type: ignore[type-arg]  # as above
    """A number of bytes on the command line, such as `500MB`, `20GB` or `4GiB`."""

    name = "size"
    _WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B?", re.IGNORECASE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The bytes."""
        found = self._WRITTEN.fullmatch(str(value).strip())
        if found is None:
            self.fail(
                f"{value!r} is no size: write bytes, or a number with kB, MB, GB, TB or GiB, like 20GB", param, ctx
            )
        power = ["", "k", "m", "g", "t"].index(found[2].lower())
        return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


class Number(click.Choice):  # type: ignore[type-arg]  # as above
    """One of some numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        return int(super().convert(str(value), param, ctx))


class Words(click.ParamType):  # type: ignore[type-arg]  # as above
    """Words separated by commas; none of them for an empty text."""

    name = "words"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002  # as click calls it
        ctx: click.Context | None,  # noqa: ARG002  # likewise
    ) -> tuple[str, ...]:
        """The words."""
        return value if isinstance(value, tuple) else tuple(word.strip() for word in value.split(",") if word.strip())


class WhenType(click.ParamType):  # type: ignore[type-arg]  # as above
    """A `When` on the command line. `15m` becomes a fixed time here, once per command."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """`start` and `now` as they are, a place, or a `datetime`; a text for a time that names nanoseconds.

        A `datetime` has none: a read then includes the whole microsecond.
        """
        if not isinstance(value, str) or value in (START, NOW):
            return value
        try:
            moment = parse(value)
        except NameUnknown as error:
            self.fail(f"{value!r} is none of: {error.known}", param, ctx)
        except InvalidInput as error:
            self.fail(str(error), param, ctx)
        if isinstance(moment, Time) and moment.width == 1 and _NANOSECONDS.search(value):
            return timestamp(moment.ns)
        return moment.as_datetime() if isinstance(moment, Time) else moment

"""What commands share: options, the types of their values, and how a command begins.

Belongs here: options that several commands have. Does not: what a command does; errors and exit codes (`failures`).
"""

import functools
import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from msgspec.structs import replace

from phaseline.engine.log.when import A_MOMENT, NOW, START, Time, parse, seconds_of
from phaseline.engine.nats.embedded.server_key import with_key
from phaseline.engine.settings import Settings, from_options
from phaseline.engine.surfaces.cli import connection, failures, terminal
from phaseline.engine.surfaces.cli.connection import CONNECTION, flag, variable
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.cli.output import JSON, MEANINGS, PEOPLE, Output
from phaseline.engine.surfaces.client import nats_context
from phaseline.machines.language.language_tags import LOCALES, as_tag, is_tag, of_terminal
from phaseline.schemas import codec, envelope
from phaseline.schemas.cloudevents import extensions
from phaseline.schemas.errors import BadSetting, InvalidInput, NameUnknown, did_you_mean
from phaseline.schemas.records import timestamp

_NANOSECONDS = re.compile(r"\.\d{7}")
"""In a time: a fraction of more than six digits."""


class ParsedText(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """The type of an option or argument whose value a function makes of its text.

    If the function raises `ValueError`, `InvalidInput` or `BadSetting`, that is what the command says of the text.
    """

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value. What is no text is one already."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except BadSetting as error:
            self.fail(error.problem, param, ctx)
        except (ValueError, InvalidInput) as error:
            self.fail(str(error), param, ctx)


def _json_object(text: str) -> dict[str, Any]:
    try:
        decoded = codec.decode_text(text)
    except ValueError as error:
        raise ValueError(f"not valid {error}") from None
    if isinstance(decoded, dict):
        return decoded
    raise ValueError(f"""must be a JSON object, like '{{"reason": "KubeletStopped"}}', found {text!r}""")


def _extension(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise ValueError(f"{text!r} has no value: write NAME=VALUE")
    if name in envelope.KNOWN:
        raise ValueError(f"{name!r} is no extension: the envelope itself has {', '.join(sorted(envelope.KNOWN))}")
    if not extensions.is_name(name):
        raise ValueError(f"{name!r} is no name of an extension: names are of a-z and 0-9, at most 64 of them")
    return name, value


def _duration(text: str) -> float:
    if (seconds := seconds_of(text)) is None:
        raise ValueError(f"{text[:64]!r} is no duration: write seconds, or 90s, 10m, 2h or 1d")
    return seconds


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B?", re.IGNORECASE)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no size: write bytes, or a number with kB, MB, GB, TB or GiB, like 20GB")
    power = ["", "k", "m", "g", "t"].index(found[2].lower())
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


def read_when(text: str) -> Any:
    """`start` and `now` as they are, a place, or a `datetime`; a text for a time that names nanoseconds.

    A `datetime` has none: a read then includes the whole microsecond. `15m` becomes a fixed time here, once a command.
    """
    if text in (START, NOW):
        return text
    try:
        moment = parse(text)
    except NameUnknown as error:
        raise ValueError(f"{text!r} is none of: {error.known}") from None
    if isinstance(moment, Time) and moment.width == 1 and _NANOSECONDS.search(text):
        return timestamp(moment.ns)
    return moment.as_datetime() if isinstance(moment, Time) else moment


JSON_OBJECT = ParsedText("json", _json_object)
"""A JSON object on the command line."""
EXTENSION = ParsedText("extension", _extension)
"""An extension attribute of CloudEvents on the command line, `traceparent=00-...`: its name and its text."""
DURATION = ParsedText("duration", _duration)
"""A duration on the command line, such as `120s` or `5m`, as seconds."""
SIZE = ParsedText("size", _size)
"""A number of bytes on the command line, such as `500MB`, `20GB` or `4GiB`."""
WORDS = ParsedText("words", lambda text: tuple(word.strip() for word in text.split(",") if word.strip()))
"""Words separated by commas; none of them for an empty text."""
WHEN = ParsedText("moment", read_when)
"""A `When` on the command line."""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that is there."""


class OneOfNumbers(click.Choice):  # type: ignore[type-arg]  # as above
    """One of some numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        return int(super().convert(str(value), param, ctx))


def verbose(function: Function) -> Function:
    """Add `-v`, and print errors in one line each. For commands without a connection."""
    return connection.verbose(_guarded(function))


def connected_plainly(function: Function) -> Function:
    """Add the options of the connection, and `-v`; `function` gets each as an argument, not as one `settings`.

    Names that no table has are an error before `function` is called, and kinds that are left out a warning.
    """

    @functools.wraps(function)
    def call(**values: Any) -> int | None:
        from phaseline.engine.surfaces.cli import names  # noqa: PLC0415  # it imports this module

        names.check(values)
        names.warn_of_broken_kinds()
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
        return function(settings=settings_of(values), **values)

    return connected_plainly(call)


def settings_of(values: dict[str, Any]) -> Settings:
    """Take the options of the connection out of `values`; a wrong one is a wrong command line."""
    chosen = {name: values.pop(name) for name in CONNECTION if name in values}
    try:
        return settings_from(with_context(chosen, {name: entry[2] for name, entry in CONNECTION.items()}))
    except BadSetting as error:
        name = {"connect_timeout": "timeout", "request_timeout": "timeout"}.get(error.name, error.name)
        raise click.BadParameter(error.problem, param_hint=flag(name)) from error


def with_context(chosen: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The options of a connection, with those of the context where one is named. Raises `BadSetting`.

    An option goes before the context. So does an environment variable, unless the context is named by an option: that
    one replaces the whole connection which the environment describes.
    """
    name = chosen.pop("context", None)
    if not name:
        return chosen
    context = click.get_current_context(silent=True)
    by_option = context is not None and context.get_parameter_source("context") == ParameterSource.COMMANDLINE

    def is_given(option: str) -> bool:
        if option not in nats_context.SETTINGS:
            return True
        source = None if context is None else context.get_parameter_source(option)
        if source == ParameterSource.ENVIRONMENT:
            return not by_option
        return source == ParameterSource.COMMANDLINE or (source is None and chosen[option] != defaults[option])

    return nats_context.applied(name, {option: value for option, value in chosen.items() if is_given(option)})


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
        type=WHEN,
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


class WholeNumber(click.IntRange):
    """A whole number within bounds, which help and errors say in words."""

    name = "whole number"

    def _describe_range(self) -> str:  # of click, which has no public way
        return bounds(self.min, self.max)


class Decimal(click.FloatRange):
    """A number within bounds, likewise."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value!r} is not a number", param, ctx)
        return found

    def _describe_range(self) -> str:
        return bounds(self.min, self.max, above=self.min_open)


def bounds(least: float | None, most: float | None, *, above: bool = False) -> str:
    """`1 or more`, `1 to 64`, `above 0`."""
    if most is not None:
        return f"{least:.12g} to {most:.12g}"
    return f"above {least:.12g}" if above else f"{least:.12g} or more"

"""Names on the command line: kinds, states, triggers and ids, with their completion in a shell.

Belongs here: how a name may be written, what a shell offers for it, and which commands say that kinds are left out.
Does not: the check of a name against the tables (`phaseline.engine.log.latest`), finding broken kinds
(`compiler.packages`), reading states.
"""

import asyncio
import functools
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.connection import CONNECTION
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.cli.options import settings_of
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import CLASSES
from phaseline.schemas.errors import NameUnknown, NotInstalled, PhaselineError, did_you_mean

PATIENCE = 1.5
"""Seconds in which a shell gets the ids that were found. Somebody waits at a prompt."""
MOST = 200
"""The most ids that a shell is offered."""


def spelt(word: str, known: Iterable[str]) -> str:
    """The known name that `word` stands for: in any case, with `-` for `_`, in the plural. Else `word` itself."""
    by_spelling = {_plain(name): name for name in known}
    plain = _plain(word)
    stems = (plain, plain.removesuffix("s"), plain.removesuffix("es"), f"{plain.removesuffix('ies')}y")
    return next((by_spelling[stem] for stem in stems if stem in by_spelling), word)


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


class NameType(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no types for its values
    """A name on the command line. `known` gives the names, with a line of help each, for the kind named before it."""

    def __init__(self, name: str, known: Callable[[Kinds, str | None], Mapping[str, str]]) -> None:
        self.name, self._known = name, known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The name as tables write it. An unknown one stays as it is: the command then says which there are."""
        return value if _is_id(ctx) else spelt(value, self._names(ctx))

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # as click calls it
        incomplete: str,
    ) -> list[CompletionItem]:
        """The names that begin with what was typed."""
        if _is_id(ctx):
            return ID.shell_complete(ctx, param, incomplete)
        found = self._names(ctx).items()
        return [
            CompletionItem(name, help=help_)
            for name, help_ in found
            if name.casefold().startswith(incomplete.casefold())
        ]

    def _names(self, ctx: click.Context | None) -> Mapping[str, str]:
        return self._known(chosen_kinds(ctx), None if ctx is None else ctx.params.get("kind"))


class StateType(NameType):
    """A state on the command line. It stays as it was typed: the kind may stand behind it (`state`)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The word itself."""
        return str(value)


class KindType(NameType):
    """The name of a kind on the command line."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The name as tables write it. No table is read for it."""
        return spelt(value, chosen_kinds(ctx))


def chosen_kinds(ctx: click.Context | None) -> Kinds:
    """The kinds of the installation that the command line names."""
    return installed("" if ctx is None else ctx.params.get("prefix") or "")


def _is_id(ctx: click.Context | None) -> bool:
    """Whether an id stands where a trigger does otherwise: a snapshot has none."""
    return ctx is not None and ctx.params.get("snapshot") is not None


def _among(kinds: Kinds, name: str | None) -> list[Kind]:
    """The kind of that name; all kinds if there is none."""
    return [kinds[name]] if name is not None and name in kinds else list(kinds.values())


def _kinds(kinds: Kinds, _: str | None) -> dict[str, str]:
    return {name: kind.written.doc for name, kind in kinds.items()}


def _states(kinds: Kinds, name: str | None) -> dict[str, str]:
    return {phase: "" for kind in _among(kinds, name) for phases in kind.phases for phase in phases[1:]}


def _triggers(kinds: Kinds, name: str | None) -> dict[str, str]:
    tables = [kind.table for kind in _among(kinds, name)]
    found = ((trigger, table.role(trigger)) for table in tables for trigger in table.triggers)
    return {trigger: role for trigger, role in found if role != "derived"}


def state_spelt(word: str, kinds: Kinds, kind: str | None) -> str:
    """The phase that `word` stands for, of a kind or of all. Else `word` itself."""
    return spelt(word, _states(kinds, kind))


KIND, STATE, TRIGGER = KindType("kind", _kinds), StateType("state", _states), NameType("trigger", _triggers)


def check(values: Mapping[str, Any]) -> None:
    """Check the kind, state, facet and reason that a command names against the tables; no server is needed.

    values: the options and arguments of the command. Raises `NameUnknown`, `InvalidInput`. The kind is left alone
    where the command checks it itself: `publish` checks whole events, and a command that takes `[KIND] ID` finds the
    id in `kind` if nothing stands behind it.
    """
    asked = {name: values[name] for name in ("state", "facet", "reason") if isinstance(values.get(name), str)}
    kinds, kind = chosen_kinds(click.get_current_context()), values.get("kind")
    if kind is None or "trigger" in values or values.get("entity_id", "") is None:
        kind = None
    elif (kind := spelt(kind, kinds)) not in kinds:
        raise NameUnknown.among("kind", kind, kinds)
    if asked:
        from phaseline.engine.log.watch import RecordFilter, chosen  # noqa: PLC0415  # few commands select by a name

        choice = chosen(kinds, kind, asked.pop("state", None), ())
        RecordFilter(kind=kind, state=choice.phase, choice=choice, **asked).check(kinds)


def _no_tree(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """Raise `UsageError` for what is no kind and like none: other commands take an id there."""
    kinds = chosen_kinds(ctx) if value else {}
    if value and value not in kinds and not did_you_mean(value, kinds):
        words = f"{ctx.command_path} --tree {value}"
        raise click.UsageError(f"there is no kind {value!r}; if it is an entity: `{words}`", ctx)
    return value


optional_kind = click.argument("kind", type=KIND, required=False, callback=_no_tree)
"""The kind of which a list is, if it is of one."""


class IdType(click.ParamType):  # type: ignore[type-arg]  # as above
    """The id of an entity. A shell offers the ids that the installation has."""

    name = "id"

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002  # as click calls it
        incomplete: str,
    ) -> list[CompletionItem]:
        """The ids that begin with what was typed; none if the server does not answer in time."""
        terminal.log_to_stderr(least=logging.CRITICAL)  # a shell would take log lines for offers
        try:
            return asyncio.run(_ids(ctx.params, incomplete))
        except (PhaselineError, NotInstalled, click.ClickException, TimeoutError):
            return []


ID = IdType()


async def _ids(values: Mapping[str, Any], incomplete: str) -> list[CompletionItem]:
    """The ids of the kind that was typed before, or of all kinds with as many parts as were typed."""
    given = {name: values[name] for name in CONNECTION if values.get(name) is not None}
    above, _, _ = incomplete.rpartition("/")
    found: list[CompletionItem] = []
    async with asyncio.timeout(PATIENCE), ReadingClient.open(settings_of(given)) as client:
        parts = incomplete.count("/") + 1
        typed = spelt(values.get("kind") or "", client.kinds)
        kinds = [typed] if typed in client.kinds else [k.name for k in client.kinds.values() if k.arity == parts]
        for kind in kinds:
            async for entity in client.list(kind, tree=above or None):
                if entity.id.startswith(incomplete) and len(found) < MOST:
                    found.append(CompletionItem(entity.id, help=f"{kind} {entity.facets[0].state}"))
    return found


_state = option(
    "selection", "--state", type=STATE, metavar="STATE",
    help="Only this state: a phase (Failed), or {Failed,[Balance,*]}, with * for any other condition, or a label "
    "(Abnormal).",
)  # fmt: skip


def state(function: Function) -> Function:
    """Add `--state`; `function` gets it as the table of its `kind` writes it, without a kind as any table does."""

    @functools.wraps(function)
    def call(*, state: str | None, kind: str | None, **values: Any) -> int | None:
        if state is not None:
            state = state_spelt(state, chosen_kinds(click.get_current_context()), kind)
        return function(state=state, kind=kind, **values)

    return _state(call)


condition = option(
    "selection", "--condition", multiple=True, metavar="CONDITION",
    help="Only states with this condition, for example Balance. Repeat it for several that stand together.",
)  # fmt: skip
class_ = option(
    "selection", "--class", "class_", multiple=True, type=click.Choice(CLASSES), metavar="CLASS",
    help=f"Only entities of this class ({', '.join(CLASSES)}). Repeat it for several.",
)  # fmt: skip
lasting = option(
    "selection", "--for", "lasting", type=options.DURATION, default=0.0,
    help="Only what has been in its class for so long (10m), whatever states it had in it.",
)  # fmt: skip
tree = option("selection", "--tree", type=ID, metavar="ID", help="Only this entity and everything below it.")


SAY_IT_THEMSELVES = ("worker", "up", "demo", "doctor")
"""The commands that end with an error about broken kinds, or have a check of their own."""


def warn_of_broken_kinds() -> None:
    """Say on stderr which kinds of other packages cannot be used and are left out, one line each."""
    if click.get_current_context().command.name not in SAY_IT_THEMSELVES:
        for one in installed().broken:
            terminal.say(f"{one}; it is left out here", terminal.styled("warning: ", "yellow"))

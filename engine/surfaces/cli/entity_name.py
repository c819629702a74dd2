"""The entity that a command is about, as its arguments: kind and id, both in one word, or the id alone.

Belongs here: these arguments, and what a shell offers for them. Does not: the spelling of single names (`names`),
which kind an id alone has (`phaseline.engine.log.latest`).
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from phaseline.engine.surfaces.cli import names
from phaseline.engine.surfaces.cli.help import Function
from phaseline.machines.compiler.kinds import Kinds


class EntityName(NamedTuple):
    """The kind, None if it was not typed, and the id."""

    kind: str | None
    id: str


def read(kinds: Kinds, first: str, second: str | None) -> EntityName:
    """The entity that one or two words name. `KIND/ID` is what `-o name` prints.

    One word is read as `KIND/ID` if it begins with a kind and the rest has as many parts as the ids of that kind.
    """
    if second is not None:
        return EntityName(names.spelt(first, kinds), second)
    word, _, rest = first.partition("/")
    kind = names.spelt(word, kinds)
    if kind in kinds and rest and rest.count("/") + 1 == kinds[kind].arity:
        return EntityName(kind, rest)
    return EntityName(None, first)


def is_part_of(kinds: Kinds, kind: str, above: str) -> bool:
    """Whether entities of a kind are those of the kind `above`, or are below them."""
    return kind == above or (kind in kinds and above in kinds and bool(kinds.path(above, kind)))


class FirstWordType(names.IdType):
    """The first word of an entity's name: its kind or its id. It stays as it was typed."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The kinds that begin with what was typed; the ids where none does, or where a whole kind stands there."""
        kinds = [] if "/" in incomplete else names.KIND.shell_complete(ctx, param, incomplete)
        return kinds if kinds and incomplete else [*kinds, *super().shell_complete(ctx, param, incomplete)]


def argument(*, required: bool = True, only: Sequence[str] = (), metavar: str = "ID") -> Callable[[Function], Function]:
    """Add the arguments; the function gets `kind`, None if it was not typed, and `entity_id`.

    only: the kinds that the command is about; the function gets the id alone then. An option `--kind` beside the
    arguments names the kind too.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*, kind: str | None, entity_id: str | None, kind_option: str | None = None, **rest: Any) -> int | None:
            if kind is None:
                if required:
                    raise click.UsageError(f"Missing argument '{metavar}'.")
                return function(entity_id=None, **rest)
            found = read(names.chosen_kinds(click.get_current_context()), kind, entity_id)
            if kind_option is not None and found.kind not in (None, kind_option):
                raise click.UsageError(f"the kind is named twice: {found.kind}, and --kind {kind_option}")
            if only:
                if found.kind not in (None, *only):
                    raise click.UsageError(f"this command is about {' or '.join(only)}, not about {found.kind}")
                return function(entity_id=found.id, **rest)
            return function(kind=found.kind or kind_option, entity_id=found.id, **rest)

        second = click.argument("entity_id", type=names.ID, metavar=metavar if required else f"[{metavar}]",
                                required=False)  # fmt: skip
        return click.argument("kind", type=FirstWordType(), metavar="[KIND]", required=False)(second(call))

    return decorate


option = click.option("--kind", "kind_option", type=names.KIND, metavar="KIND",
                      help="The kind of ID, if several kinds have this id.")  # fmt: skip
"""The option `--kind` beside the arguments."""

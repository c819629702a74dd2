"""The commands about notices: their group, and `notices try`.

Belongs here: the options and layout of `try`. Does not: what rules do (`notices.fold`), the notices that
there are (`notice_reads`), what people do with them (`notice_actions`), examples to receivers (`try_receiver`).
"""

from pathlib import Path
from typing import Any, Final

import click

from phaseline.engine.log.when import A_MOMENT, When
from phaseline.engine.products.commands import notice_actions, notice_reads
from phaseline.engine.products.commands.try_receiver import test
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.past import RuleResult, TriedRules, tried
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import cells, names, options, render, terminal
from phaseline.engine.surfaces.cli.help import DefaultGroup, Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
WORDS: Final = {"begin": "BEGINS", "flapping": "FLAPPING", "reminder": "REMINDERS", "end": "ENDS"}


@click.group(
    cls=DefaultGroup,
    examples=[
        ("phaseline notices", "what is open now"),
        ("phaseline notices why node-down/4711", "why it was told, and to whom"),
        ("phaseline notices why node c1/p/n7 --rules notices.yaml", "what is told of an entity, and why not more"),
        ("phaseline notices take node-down/4711", "you take care of it: nobody is reminded for 8 hours"),
        ("phaseline notices try --rules notices.yaml --from 30d", "what rules would have told"),
    ],
)
def notices() -> None:
    """Notices: what people are told of transitions, once, in time and with the reason.

    The default command is `list`. `phaseline notify` makes notices; docs/notices.md says how.
    """


notices.add_command(notice_reads.list_)
notices.add_command(notice_reads.why)
notices.add_command(notice_actions.take)
notices.add_command(notice_actions.hold)
notices.add_command(notice_actions.release)


@notices.command(
    "try",
    cls=Page,
    examples=[
        ("phaseline notices try --rules notices.yaml --from 30d", "the last thirty days"),
        ("phaseline notices try --rules notices.yaml --from start --messages", "each message, from the beginning"),
        ("phaseline notices try --rules notices.yaml --from 7d --tree c1 --json", "one tree, for programs"),
    ],
)
@click.option("--rules", "file", type=FILE, required=True, metavar="FILE", help="The file of rules.")
@click.option("--from", "start", type=cells.START, default="30d", show_default=True,
              help=f"Where to begin: start, {A_MOMENT}.")  # fmt: skip
@names.tree
@click.option("--messages", is_flag=True, help="Show each message instead of the numbers.")
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
def try_(
    settings: Settings, *, file: Path, start: When, tree: str | None, messages: bool, output: Output
) -> int | None:
    """Show what rules would have told of the past, and how many begins each damping would have kept back.

    Nothing is stored and nobody is told. What was so before the beginning is not told; what was expected, did not
    last, or had one cause with others, is counted by what kept it back.
    """

    async def work() -> None:
        rules = read_rules.read_file(file, installed())
        async with Client.open(settings) as client:
            result = await tried(client, rules, start, tree)
        if output.is_data:
            for one in result.told if messages else result.results.values():
                output.show(message_map(one) if isinstance(one, NoticeEvent) else result_map(one))
        elif messages:
            for one in result.told:
                output.record(MESSAGES, one)
        else:
            show(output, result)

    return terminal.run(work())


notices.add_command(test)


def show(output: Output, result: TriedRules) -> None:
    """Print the numbers for people."""
    output.table(RESULTS, result.results.values())
    saved = sum(sum(one.saved.values()) for one in result.results.values())
    messages = sum(one.messages for one in result.results.values())
    output.line(f"{counted(messages, 'message')}; {counted(saved, 'begin')} damped")


def result_map(one: RuleResult) -> dict[str, Any]:
    """What one rule would have told, for programs."""
    return {"rule": one.rule, "messages": one.messages, "told": one.told, "saved": one.saved, "open": one.open}


def message_map(one: NoticeEvent) -> dict[str, Any]:
    """A message, for programs."""
    return {"notice": one.id, "word": one.word, "time": one.time, "place": one.place, "to": list(one.to), **one.data}


def _told(word: str) -> Column[RuleResult]:
    """The column of the messages of one word."""
    return Column(WORDS[word], lambda one: Text(f"{one.told[word]:,}"))


def _damped(one: RuleResult) -> Text:
    """`for 12, held 3`."""
    return Text(", ".join(f"{name} {number:,}" for name, number in one.saved.items() if number))


RESULTS: Final[tuple[Column[RuleResult], ...]] = (
    Column("RULE", lambda one: Text(one.rule)),
    *map(_told, WORDS),
    Column("OPEN", lambda one: Text(f"{one.open:,}")),
    Column("DAMPED", _damped, wraps=True),
)
MESSAGES: Final[tuple[Column[NoticeEvent], ...]] = (
    Column("TIME", lambda one: render.text_of(one.time[:19].replace("T", " "))),
    Column("NOTICE", lambda one: Text(one.id)),
    Column("WORD", lambda one: Text(one.word)),
    Column("ABOUT", lambda one: Text(f"{one.data.get('about', '')} {one.data.get('state', '')}")),
    Column("NUMBER", lambda one: Text(f"{one.data['number']} concerned" if one.data["number"] > 1 else "")),
)

"""The commands about notices: their group, `notices take`, `hold` and `release`, and `notices try`.

Belongs here: their options, words and layout. Does not: what rules do (`notices.fold`), what becomes of a notice
(`kinds.notices`), the notices that there are (`notice_reads`), examples to receivers (`try_receiver`).
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from phaseline.engine.log.when import A_MOMENT, When, seconds_of
from phaseline.engine.products.commands import notice_reads
from phaseline.engine.products.commands.notice_reads import notices_of
from phaseline.engine.products.commands.try_receiver import test
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.past import RuleResult, TriedRules, tried
from phaseline.engine.publish.compose import local_user
from phaseline.engine.publish.operations import operator
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import cells, names, options, render, terminal
from phaseline.engine.surfaces.cli.help import DefaultGroup, Function, Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Exit

BACK = "back"
"""Until something is over: how long a notice is on hold."""
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


def _until(text: str) -> float:
    """The seconds for which a notice is on hold; 0 for until it is over."""
    seconds = 0.0 if text == BACK else seconds_of(text)
    if seconds is None or (seconds <= 0 and text != BACK):
        raise ValueError(f"{text[:64]!r} is neither back nor a time such as 30m, 2h or 1d")
    return seconds


def _of_notice(function: Callable[..., tuple[str, Mapping[str, Any], str]]) -> Function:
    """A command about a notice. function: returns the request, its data, and what to say once it is taken."""

    @click.argument("notice", metavar="ID")
    @options.connected
    @functools.wraps(function)
    def call(settings: Settings, notice: str, **values: Any) -> int | None:
        trigger, data, said = function(**values)
        found = notice.removeprefix("notice/")
        return terminal.run(_ask(settings, trigger, found, data, said))

    return call


async def _ask(settings: Settings, trigger: str, notice: str, data: Mapping[str, Any], said: str) -> int:
    async with notices_of(settings, source=operator(settings)) as client:
        record = await client.last("notice", notice)  # so an unknown one leaves no rejection
        outcome = await client.publish_and_wait("notice", trigger, record.entity.id, data)
    if (refused := outcome.rejection) is not None:
        terminal.say(f"refused: {refused.message}")
        return Exit.NO
    terminal.say(f"{notice}: {said}")
    return Exit.DONE


@notices.command(
    cls=Page,
    examples=[
        ("phaseline notices take node-down/4711", "in your name"),
        ("phaseline notices take node-down/4711 --by ann", "in the name of somebody else"),
    ],
)
@click.option("--by", metavar="NAME", help="Who takes care of it.  [default: the user of this machine]")
@_of_notice
def take(by: str | None) -> tuple[str, Mapping[str, Any], str]:
    """Take care of a notice: nobody is reminded of it, and its end is told.

    It is given back after 8 hours, which is told once; or by `notices release`. It ends with the notice.
    """
    name = by or local_user()
    return "take", {"taken_by": name[:200]}, f"taken by {name}, given back after 8 hours"


@notices.command(
    cls=Page,
    examples=[
        ("phaseline notices hold node-down/4711 --until back", "until it is over"),
        ("phaseline notices hold node-down/4711 --until 2h", "for two hours"),
    ],
)
@click.option("--until", "seconds", type=options.ParsedText("time", _until), default=BACK, show_default=True,
              metavar="back|DURATION", help="Until it is over, or for so long.")  # fmt: skip
@_of_notice
def hold(seconds: float) -> tuple[str, Mapping[str, Any], str]:
    """Hold a notice: nothing more is told of it until then, but its end is.

    What there was to tell meanwhile is told in one message when the hold ends.
    """
    return "hold", {"hold_seconds": seconds}, "on hold until it is over" if not seconds else "on hold"


@notices.command(cls=Page, examples=[("phaseline notices release node-down/4711", "")])
@click.option("--taken", is_flag=True, help="Give back what was taken, in place of ending a hold.")
@_of_notice
def release(*, taken: bool) -> tuple[str, Mapping[str, Any], str]:
    """End the hold of a notice; with --taken give it back."""
    return ("give_back", {}, "given back") if taken else ("release", {}, "no longer on hold")


@notices.command(
    "try",
    cls=Page,
    examples=[
        ("phaseline notices try --rules notices.yaml --from 30d", "the last thirty days"),
        ("phaseline notices try --rules notices.yaml --from start --messages", "each message, from the beginning"),
        ("phaseline notices try --rules notices.yaml --from 7d --tree c1 --json", "one tree, for programs"),
    ],
)
@click.option("--rules", "file", type=options.FILE, required=True, metavar="FILE", help="The file of rules.")
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

"""The commands `notices take`, `notices hold` and `notices release`: what people do with a notice.

Belongs here: their options and words. Does not: what becomes of the notice (`kinds.notices`).
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import click

from phaseline.engine.log.when import seconds_of
from phaseline.engine.products.commands.notice_reads import notices_of
from phaseline.engine.publish.compose import local_user
from phaseline.engine.publish.operations import operator
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Function, Page
from phaseline.schemas.errors import Exit

BACK = "back"


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


@click.command(
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


@click.command(
    cls=Page,
    examples=[
        ("phaseline notices hold node-down/4711 --until back", "until it is over"),
        ("phaseline notices hold node-down/4711 --until 2h", "for two hours"),
    ],
)
@click.option("--until", "seconds", type=options.Read("time", _until), default=BACK, show_default=True,
              metavar="back|TIME", help="Until it is over, or for so long.")  # fmt: skip
@_of_notice
def hold(seconds: float) -> tuple[str, Mapping[str, Any], str]:
    """Hold a notice: nothing more is told of it until then, but its end is.

    What there was to tell meanwhile is told in one message when the hold ends.
    """
    return "hold", {"hold_seconds": seconds}, "on hold until it is over" if not seconds else "on hold"


@click.command(cls=Page, examples=[("phaseline notices release node-down/4711", "")])
@click.option("--taken", is_flag=True, help="Give back what was taken, in place of ending a hold.")
@_of_notice
def release(*, taken: bool) -> tuple[str, Mapping[str, Any], str]:
    """End the hold of a notice; with --taken give it back."""
    return ("give_back", {}, "given back") if taken else ("release", {}, "no longer on hold")

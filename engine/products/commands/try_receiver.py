"""`phaseline notices test`: one example to one receiver.

Belongs here: the options, the example, what is printed. Does not: sending
(`phaseline.engine.products.notices.sending`).
"""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import get_args

import click

from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.bodies.message import MessageWord, NoticeMessage
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Exit, NameUnknown
from phaseline.schemas.records import SECOND, timestamp

MINUTE = 60 * SECOND


@click.command(
    "test",
    cls=Page,
    examples=[
        ("phaseline notices test ops --rules notices.yaml", "does it arrive?"),
        ("phaseline notices test ops --rules notices.yaml --word end", "what the end of a notice looks like"),
    ],
)
@click.argument("receiver")
@click.option("--rules", "file", type=options.FILE, required=True, metavar="FILE", help="The file of rules.")
@click.option("--word", type=click.Choice(get_args(MessageWord)), default="begin", show_default=True,
              help="What the example is about.")  # fmt: skip
@options.connected
@options.output("json", "yaml")
def test(settings: Settings, *, receiver: str, file: Path, word: MessageWord, output: Output) -> int | None:
    """Send one example to RECEIVER, and say what came back.

    Nothing is stored. NATS is connected to only for a receiver on a subject. In an Alertmanager the example is over
    after a few minutes.
    """

    async def work() -> int:
        from phaseline.engine.nats.wire import Wire  # noqa: PLC0415  # few receivers are subjects
        from phaseline.engine.products.notices.sending import ways  # noqa: PLC0415  # it needs extras

        receivers = read_rules.read_file(file, installed()).receivers
        if receiver not in receivers:
            raise NameUnknown.among("receiver", receiver, receivers)
        found, began = receivers[receiver], time.monotonic()
        ways.need(found)
        async with Wire.open(settings) if found.type == "nats" else nullcontext() as wire:
            attempt = await ways.send(found, example(receiver, word), f"phaseline/{settings.prefix}", wire=wire)
        took = time.monotonic() - began
        is_sent = attempt.outcome == "sent"
        if output.is_data:
            output.show({"receiver": receiver, "type": found.type, "sent": is_sent, "said": attempt.said,
                         "seconds": round(took, 3)})  # fmt: skip
        else:
            became = "sent" if is_sent else "not sent"
            output.line(f"{receiver} ({found.type}): {became} in {took:.1f} s: {attempt.said}")
        return Exit.DONE if is_sent else Exit.NO

    return terminal.run(work())


def example(receiver: str, word: MessageWord) -> NoticeMessage:
    """A notice that says that it is an example."""
    now = time.time_ns()
    is_over = word in ("end", "past")
    data = {
        "severity": "info", "about": "cluster/example", "state": "Failed", "trigger": "test",
        "said": {"reason": "Example", "message": "phaseline notices test sent this; nothing is wrong"},
        "cause": {"source": "phaseline notices test"}, "number": 0 if is_over else 1, "most": 1, "below": 0,
        "names": [] if is_over else ["cluster/example"], "since": timestamp(now - 5 * MINUTE),
        "opened": timestamp(now - 5 * MINUTE), "ended": timestamp(now) if is_over else "",
        "ended_as": "good" if is_over else "", "flapping": word == "flapping",
    }  # fmt: skip
    return NoticeMessage(f"example/{now // SECOND}", receiver, word, data, now, now)

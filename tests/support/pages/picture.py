"""The picture on README: a terminal session with real output, as SVG. `python3 dev.py picture` draws it.

Belongs here: the session, and drawing it. Does not: what the commands print. rich draws what a terminal would show.
"""

import asyncio
import io
import re
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.text import Text

from tests.support.command import ROOT
from tests.support.pages.outputs import calm
from tests.support.pages.runner import PageRun

PICTURE = ROOT / "docs" / "session.svg"
WIDTH = 128
BEFORE = ("phaseline up", "phaseline publish --file examples/invoice.jsonl")
SESSION = (
    "phaseline tree c1",
    "phaseline why c1/dns",
    "phaseline publish cluster renewed c1 --source /billing --wait",
    "phaseline publish cluster started c1 --source /agent/c1 --wait",
)
FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""The SVG shall need no other file."""
PLACE = re.compile(r"(?m)^ *\d+(?= ?<time>)")
"""The place of a record in the log, which depends on how many commits the worker made before."""


async def picture(folder: Path) -> str:
    """Run the session and draw it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    async with PageRun.opened("picture", folder, FORCE_COLOR="1", COLUMNS=str(WIDTH)) as run:
        for command in BEFORE:
            await run.do(command)
        for command in SESSION:
            code, printed = await run.do(command)
            assert code == 0, printed
            console.print(Text.assemble(("$ ", "bright_black"), (command, "bold")))
            for line in printed:
                console.print(Text.from_ansi(line))
            console.print()
    return FONTS.sub("", console.export_svg(title="phaseline"))


def text_of(svg: str) -> str:
    """What a picture says, without what differs from run to run."""
    lines: dict[str, list[str]] = {}
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        lines.setdefault(element.get("y", ""), []).append(element.text or "")
    said = calm("\n".join(" ".join(words).replace("\xa0", " ") for words in lines.values()))
    return PLACE.sub("<place>", said)


def draw() -> None:
    """Write the picture, unless the one that is there says the same."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = asyncio.run(picture(Path(folder) / "reader"))
    same = PICTURE.exists() and text_of(PICTURE.read_text(encoding="utf-8")) == text_of(drawn)
    if not same:
        PICTURE.write_text(drawn, encoding="utf-8")
    sys.stdout.write(f"{'the same' if same else 'written'}: {PICTURE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    draw()

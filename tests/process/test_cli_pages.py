"""What a person sees of a morning: pages that a person has read, held to what the command prints.

After an intended change, `python3 dev.py golden` writes them again. Read the diff before you commit.
"""

import asyncio
import os
import re
from pathlib import Path

from tests.support.command import Shell
from tests.support.installation import until_decided
from tests.support.own_installation import Client

GOLDEN = Path(__file__).parents[1] / "golden" / "cli.txt"
COMMANDS = """
tree shop-eu
tree shop-us --lang zh
tree shop-us/web
tree shop-eu --depth 0
list
list node --state Failed
list component --lang zh
list --tree lab --all
list cluster --state Stopped
get node shop-eu/web/web-4
get node_pool shop-eu/web --lang zh
get component shop-us/ingress
history node shop-eu/web/web-2
history cluster shop-us --lang zh
watch --tree lab --from start --no-follow
watch node_pool --tree shop-us --from start --no-follow --rejections
watch node --state Failed --tree factory --from start --limit 1
rejections
rejections --reason guard
kinds show
get cluster nowhere
get claster shop-eu
get node shop-eu
list node --state Broken
tree nowhere
history node shop-eu/web/web-9
rejections show 1
kinds show claster
"""


async def test_a_morning_as_people_see_it(shell: Shell, client: Client) -> None:
    assert (await shell("publish", "--file", "examples/morning.jsonl")).code == 0
    done = await client.publish_and_wait("cluster", "updated", "factory", sequence=1)
    assert done.effect == "none"
    installation = await client._session.installation()
    await until_decided(installation.wire, installation.layout)
    lines = COMMANDS.strip().splitlines()
    answers = await asyncio.gather(*(shell(*line.split()) for line in lines))
    localised = await Shell(**{**shell.environment, "LC_ALL": "zh_CN.UTF-8"})("tree", "shop-us")
    assert localised.out == answers[1].out
    page = "\n".join(
        f"$ phaseline {line}\n{calm(said.out)}{calm(said.err)}[exit code {said.code}]\n"
        for line, said in zip(lines, answers, strict=True)
    )
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        GOLDEN.write_text(page)
    assert page == GOLDEN.read_text()


def calm(text: str) -> str:
    """The text without what differs from run to run: times, durations, places in the log, and widths that follow."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", "<time>", text)
    text = re.sub(r"\b\d+(\.\d)? m?s\b|\b\d+ m \d+ s\b", "<long>", text)
    text = re.sub(r"(?m)^ *\d+  <time>", "  <place>  <time>", text)
    text = re.sub(r"the places \d+ to \d+", "the places <place> to <place>", text)
    return re.sub(r"(?m)(?<=\S) {2,}", "  ", text)

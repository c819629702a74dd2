"""The answers of `why` that the pages show are those of the command to that story, times aside."""

import re
from pathlib import Path
from typing import Any

from phaseline.engine.client.client import Client
from tests.support.command import Shell
from tests.support.why_output import TIME, known

ROOT = Path(__file__).parents[2]
SPAN = re.compile(r"(?<=, )(\d+ ms|[\d.]+ s|\d+ \w \d+ \w|\d+ s)$", re.MULTILINE)
OPS, AGENT, BILLING = "/console/ops", "/agent/c1", "/billing"
STORY: list[tuple[str, str, str, str, dict[str, Any]] | str] = [
    (OPS, "cluster", "create", "c1", {}),
    (AGENT, "cluster", "created", "c1", {}),
    (OPS, "node_pool", "create", "c1/pool-a", {}),
    (AGENT, "node_pool", "created", "c1/pool-a", {}),
    (OPS, "component", "create", "c1/dns", {}),
    (AGENT, "component", "created", "c1/dns", {}),
    *[(by, "node", trigger, f"c1/pool-a/n{number}", {})
      for number in (7, 8) for by, trigger in ((OPS, "create"), (AGENT, "created"))],
    (BILLING, "node", "overdue", "c1/pool-a/n7", {"message": "its server was shut down"}),
    (OPS, "node", "delete", "c1/pool-a/n7", {}),
    (OPS, "node", "create", "c1/pool-a/n9", {}),
    "c1 --at 08:12:31",
    (AGENT, "node", "cleanup_failed", "c1/pool-a/n7", {"message": "the volume API timed out"}),
    (AGENT, "component", "degraded", "c1/dns", {"reason": "ReplicasMissing"}),
    (BILLING, "cluster", "overdue", "c1", {"message": "invoice 4711 is 30 days late"}),
    "c1/pool-a/n7",
    "c1/dns",
    (OPS, "cluster", "delete", "c1", {"message": "moved to c2"}),
    "c1/pool-a/n8",
]  # fmt: skip


def timeless(text: str) -> str:
    return SPAN.sub("D", TIME.sub("T", text))


def shown(page: str) -> dict[str, str]:
    """What the page says that `why` answers, by what follows `why` on the command line."""
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    asked = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    found = [part.partition("phaseline why ")[2].partition("\n") for part in asked]
    return {words: timeless(answer) for words, _, answer in found if words}


async def test_the_pages_show_what_the_command_says(shell: Shell, client: Client) -> None:
    asked: dict[str, str] = {}
    number = 0
    for step in STORY:
        if isinstance(step, str):
            said = await shell("why", step.partition(" ")[0])
            asked[step] = timeless(said.out)
            continue
        source, kind, trigger, entity_id, data = step
        number += 1
        await client.publish_and_wait(kind, trigger, entity_id, data, source=source, event_id=f"e-{number}")
        await known(client)
    assert shown("docs/time-travel.md") == asked
    assert shown("README.md") == {"c1/dns": asked["c1/dns"]}

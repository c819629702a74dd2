"""The recorded life of a deployment in examples/emco, what its status was at its turns, and the adapter beside it.

After an intended change, `PHASELINE_GOLDEN=write pytest tests/process/test_emco_example.py` writes the answers again.
Read them before you commit.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.command import Shell
from tests.support.installation import Settings, Wire, inspect, until_decided
from tests.support.own_installation import Client

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "emco"
GOLDEN = Path(__file__).parents[1] / "golden" / "emco"
RELEASE = "video+portal+v1+release"
OLD = "6385596659306465421"
TURNS = {"away": 31, "instantiated": 36, "updating": 65, "updated": 73, "terminating": 79, "terminated": 89}
"""After how many of its events each turn is: a cluster is away, all is well, and so on."""
QUERIES = {
    "summary": "--output summary",
    "all": "",
    "detail": "--output detail --app web --cluster edge+paris",
    "rsync": "--output rsync --app cache",
    "cluster": "--type cluster --resource portal",
    "old": f"--instance {OLD} --output summary",
    "emco": "--shape emco --output summary",
    "emco-deployed": "--shape emco --status deployed --app web --cluster edge+nice",
    "emco-ready": "--shape emco --status ready --output detail --app web --cluster edge+paris",
    "emco-clusters": "--shape emco --clusters",
}
PAGES = ("", "--output summary", "--type rsync --app web", f"--instance {OLD} --output summary")


def query_of(options: str) -> dict[str, Any]:
    """The client's query for the options of a command."""
    words = options.replace("--clusters", "--clusters true").split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {name.removeprefix("--"): True if value == "true" else value for name, value in pairs}


async def test_what_became_of_it_at_every_turn(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    events, at = (EXAMPLE / "deployment.jsonl").read_bytes().splitlines(keepends=True), 0
    assert len(events) == TURNS["terminated"]
    page = ""
    for turn, count in TURNS.items():
        assert (await shell("publish", "--file", "-", stdin=b"".join(events[at:count]))).code == 0
        at = count
        await until_decided(wire, await inspect(wire, working))
        told = {name: calm(await client.emco.status(RELEASE, **query_of(query))) for name, query in QUERIES.items()}
        command = await shell("emco", "status", RELEASE, "--json")
        assert (command.err, calm(command.json)) == ("", told["all"])
        held(GOLDEN / f"{turn}.json", json.dumps(told, indent=1) + "\n")
        for query in PAGES:
            said = await shell("emco", "status", RELEASE, *query.split())
            assert (said.code, said.err) == (0, "")
            page += f"$ phaseline emco status {RELEASE} {query}".rstrip() + f"    # {turn}\n{spans(said.out)}\n"
    held(GOLDEN / "pages.txt", page)
    acted = (await shell("history", "emco_resource", RELEASE)).out
    assert f"revision 2, context 7204118839472310064, previous {OLD}" in " ".join(acted.split())
    why = (await shell("why", f"{RELEASE}/{OLD}/web/edge+paris/portal+Deployment")).out
    assert f"hand_over, fired by app_context {RELEASE}/{OLD}: handed over to app_context {RELEASE}/72041188" in why
    for line, code, says in (
        ("--output full", 2, "'full' is not one of"),
        ("--shape emco", 2, "--shape emco is a form of --json: add --json"),
        ("--app db", 2, "error: app 'db' is not in this context; it has cache, web"),
        ("--instance 7 --json", 2, f"error: instance '7' is not a context of {RELEASE}; it has {OLD}"),
        ("--status ready --json", 2, "error: status needs shape=emco"),
        ("--at 0", 4, "at place 0 of the log"),
    ):
        said = await shell("emco", "status", RELEASE, *line.split())
        assert (said.code, said.out) == (code, "")
        assert says in said.err


def calm(value: Any) -> Any:
    """Without the times at which the server stored things."""
    if isinstance(value, dict):
        return {name: "<time>" if name == "time" else calm(found) for name, found in value.items()}
    return [calm(found) for found in value] if isinstance(value, list) else value


def spans(text: str) -> str:
    return re.sub(r"for (\d+ m )?\d+(\.\d)? m?s", "for <long>", text)


def held(path: Path, text: str) -> None:
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


async def test_the_adapter(working: Settings, wire: Wire) -> None:
    events = (EXAMPLE / "deployment.jsonl").read_text().splitlines()[:20]
    async with Client.open(working) as client:
        for event in map(json.loads, events):
            kind, _, trigger = event["type"].partition(".")
            await client.publish(kind, trigger, event["subject"].partition("/")[2], event.get("data"))
        layout = await inspect(wire, working)
        await until_decided(wire, layout)
        sample = (EXAMPLE / "resourcebundlestate.json").read_text()
        stray = sample.replace("6385596659306465421-web", "1-web")
        said = await asyncio.to_thread(adapt, working, f'{{"kind": "List", "items": [{stray}]}}\n{sample}{stray}')
        assert said.count("left out: the label emco/deployment-id='1-web' names no known app context") == 2
        assert f"{RELEASE}/{OLD}/web/edge+paris: event " in said
        await until_decided(wire, layout)
        place = f"{RELEASE}/{OLD}/web/edge+paris"
        found = await client.get("app_cluster", place)
        assert found.attributes["listed"] == {
            "portal-6d4cf56db6-4x7kq+Pod": ["", "v1", "Ready"],
            "portal+Deployment": ["apps", "v1", "NotReady"],
            "uplink+ProviderNetwork": ["k8s.plugin.opnfv.org", "v1alpha1", "Ready"],
        }
        states = {
            e.id.rpartition("/")[2]: e.facets[1].state.phase async for e in client.list("rsync_resource", tree=place)
        }
        assert states == {"portal+Deployment": "Present", "portal+Service": "NotPresent"}
        detail = await client.emco.status(RELEASE, output="detail", app="web", cluster="edge+paris", resource="uplink")
        [there] = detail["resources"][0]["clusters"][0]["resources"]
        assert there["spec"] == {"cniType": "ovn4nfv"}


def adapt(settings: Settings, text: str) -> str:
    command = [sys.executable, str(EXAMPLE / "monitor.py"), "--cluster", "edge+paris"]
    done = subprocess.run(
        [*command, "--nats", settings.nats[0], "--prefix", settings.prefix],
        input=text, text=True, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr

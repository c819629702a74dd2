"""`why` on a real installation, as a person reads it: now and earlier, through views, tallies, cascades and adoption.

Belongs here: what the command says and the client returns. Does not: laws of explanations (`test_why`).
"""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from phaseline.schemas import codec
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Transition
from tests.support.command import Shell
from tests.support.installation import Wire
from tests.support.own_installation import Client
from tests.support.reading import as_map
from tests.support.why_output import TIME, known

SPAN = re.compile(r", (\d+ ms|[\d.]+ s|\d+ \w \d+ \w)$", re.MULTILINE)


async def take(
    client: Client, *events: tuple[str, str, str] | tuple[str, str, str, dict[str, Any]]
) -> list[Transition]:
    """Publish these one after another, numbered from e1 on, and wait for the states. Returns all their records."""
    made: list[Transition] = []
    for kind, trigger, entity_id, *data in events:
        done = await client.publish_and_wait(kind, trigger, entity_id, *data, source=f"/{kind}")
        assert done.transitions, done
        made += done.transitions
    await known(client)
    return made


async def why(shell: Shell, *words: str) -> str:
    """What the command says, times and ids of events aside."""
    said = await shell("why", *words)
    assert (said.code, said.err.startswith("as of ")) == (0, "--at" in words and "now" not in words), said
    return re.sub(r"event \w{24}", "event E", SPAN.sub("", TIME.sub("T", said.out)))


UP: list[Any] = [
    ("cluster", "adopt", "c1", {"phase": "Running"}),
    ("node_pool", "adopt", "c1/a", {"phase": "Running"}),
    ("component", "adopt", "c1/dns", {"phase": "Running"}),
    ("node", "adopt", "c1/a/n1", {"phase": "Running"}),
]


async def test_every_standing_cause(shell: Shell, client: Client) -> None:
    await take(
        client, *UP, ("node", "cordon", "c1/a/n1", {"reason": "Maintenance", "message": "kernel update"}),
        ("node", "not_ready", "c1/a/n1"), ("node", "overdue", "c1/a/n1"), ("node", "ready", "c1/a/n1"),
    )  # fmt: skip
    assert await why(shell, "c1/a/n1") == (
        "node c1/a/n1  Failed [Unschedulable, Balance]  since T\n"
        "├── to do: Pay what is owed; the node comes back when that is reported.\n"
        "├── Unschedulable: cordon by /node, event E (seq 5) at T: Maintenance: kernel update\n"
        "├── Balance: overdue by /node, event E (seq 7) at T\n"
        "└── NotReady cleared: ready by /node, event E (seq 8) at T\n"
    )


async def test_a_cluster_stopped_above_and_what_it_was_before(shell: Shell, client: Client) -> None:
    await take(client, *UP, ("component", "degraded", "c1/dns"), ("node_pool", "scale", "c1/a"))
    moment = datetime.now(UTC).isoformat()
    await take(client, ("cluster", "overdue", "c1", {"message": "nobody paid"}))
    cluster = (
        "├── shown while the cluster is Stopped or Starting\n"
        "│   └── cluster c1  Stopped [Balance]  since T\n"
        "│       ├── to do: Pay what is owed; the cluster starts when that is reported.\n"
        "│       └── overdue by /cluster, event E (seq 7) at T: nobody paid\n"
    )
    assert await why(shell, "c1/dns") == (
        "component c1/dns  Failed [Degraded, ClusterNotRunning]  since T\n"
        f"├── to do: Look at the replicas that are not ready, and at the message.\n{cluster}"
        "└── its base is Failed [Degraded]: degraded by /component, event E (seq 5) at T\n"
    )
    assert await why(shell, "c1/a") == (
        "node_pool c1/a  Failed [ClusterNotRunning]  since T\n"
        f"├── to do: Get the cluster running first; the pool follows.\n{cluster}"
        "└── its base is Scaling [Progressing]: scale by /node_pool, event E (seq 6) at T\n"
    )
    place = (await shell("history", "cluster", "c1", "--json")).lines[-2]["logsequence"]
    last = (await shell("watch", "--from", "start", "--no-follow", "--json")).lines[-1]["logsequence"]
    before = "node_pool c1/a  Scaling [Progressing]  since T\n└── scale by /node_pool, event E (seq 6) at T\n"
    assert await why(shell, "c1/a", "--at", str(place)) == before
    assert await why(shell, "c1/a", "--at", moment) == before
    assert "Running [Ok]" in await why(shell, "c1/a", "--at", str(place - 1))
    assert await why(shell, "c1/a", "--at", "now") == await why(shell, "c1/a", "--at", str(last))
    early = await shell("why", "c1/a", "--at", "start")
    assert (early.code, early.out) == (4, "")
    assert early.err == "error: there was no entity 'c1/a' at place 0 of the log: see `phaseline history`\n"


async def test_a_pool_that_its_nodes_keep_busy(shell: Shell, client: Client) -> None:
    await take(client, *UP, *(("node", "create", f"c1/a/n{number}") for number in (9, 7, 8, 10)))
    pool = (
        "{0}├── shown while a node without Stalled is Creating or Deleting: 4 of 5 nodes; these 3 have been so the longest\n"
        "{0}│   ├── node c1/a/n9  Creating [Progressing]  since T\n"
        "{0}│   │   └── create by /node, event E (seq 5) at T\n"
        "{0}│   ├── node c1/a/n7  Creating [Progressing]  since T\n"
        "{0}│   │   └── create by /node, event E (seq 6) at T\n"
        "{0}│   └── node c1/a/n8  Creating [Progressing]  since T\n"
        "{0}│       └── create by /node, event E (seq 7) at T\n"
        "{0}└── its base is Running [Ok]: adopt by /node_pool, event E (seq 2) at T\n"
    )
    assert await why(shell, "c1/a") == f"node_pool c1/a  Scaling [Progressing]  since T\n{pool.format('')}"
    assert await why(shell, "c1") == (
        "cluster c1  Updating [Progressing]  since T\n"
        "├── shown while a node_pool without Stalled is Creating, Deleting or Scaling: 1 of 1 node_pool\n"
        f"│   └── node_pool c1/a  Scaling [Progressing]  since T\n{pool.format('│       ')}"
        "└── its base is Running [Ok]: adopt by /cluster, event E (seq 1) at T\n"
    )


async def test_what_could_not_be_cleaned_up_after_a_cascade(shell: Shell, client: Client) -> None:
    await take(
        client, *UP, ("cluster", "delete", "c1"), ("node", "cleanup_failed", "c1/a/n1", {"message": "disk in use"})
    )
    assert await why(shell, "c1/a/n1") == (
        "node c1/a/n1  Failed [ResourceCleanupFailed]  since T\n"
        "├── to do: Look for what the message says could not be removed, remove it, and remove the node again.\n"
        "└── ResourceCleanupFailed: cleanup_failed by /node, event E (seq 6) at T: disk in use\n"
        "    └── it was Deleting: remove, fired by node_pool c1/a\n"
        "        └── remove, fired by cluster c1\n"
        "            └── delete by /cluster, event E (seq 5) at T\n"
    )


async def test_an_adopted_parent(shell: Shell, client: Client) -> None:
    words: dict[str, Any] = {"time": "2020-03-02T08:00:00Z", "source": "/agent"}
    await client.publish_and_wait("node", "adopt", "c2/b/n1", {"phase": "Running"}, **words)
    await take(client, ("node", "adopt", "c2/b/n2", {"phase": "Running"}), ("node", "error", "c2/b/n1"))
    for kind, name in (("cluster", "c2"), ("node_pool", "c2/b")):
        told = await why(shell, name)
        assert told == (
            f"{kind} {name}  Running [Ok]  since T\n"
            "└── adopt, adopted by node c2/b/n1\n"
            "    └── adopt by /agent, event E (seq 1) at T, publisher's clock T\n"
        )


async def test_json_is_what_the_client_returns(shell: Shell, client: Client) -> None:
    await take(client, *UP, ("node", "create", "c1/a/n2"), ("cluster", "overdue", "c1"))
    found = await client.why("node_pool", "c1/a")
    assert json.loads(codec.encode_json(as_map(found))) == (await shell("why", "c1/a", "--json")).json
    place = (await shell("history", "cluster", "c1", "--json")).lines[-2]["logsequence"]
    then = (await shell("why", "c1/a", "--json", "--at", str(place))).json
    earlier = await client.why("node_pool", "c1/a", at=place)
    assert json.loads(codec.encode_json(as_map(earlier))) == then
    assert (then["place"], then["facets"][0]["state"], earlier.place) == (place, "Scaling", place)
    (node,) = then["facets"][0]["view"]["while"][0]["entities"]
    (created,) = node["causes"][0]["records"]
    assert (created["trigger"], created["cause"]["by"], created["cause"]["sequence"]) == ("create", "event", 5)
    with pytest.raises(EntityUnknown):
        await client.why("node", "c1/a/n9")


async def test_two_of_one_id(shell: Shell, client: Client) -> None:
    await take(client, *UP, ("component", "adopt", "c1/a", {"phase": "Running"}))
    said = await shell("why", "c1/a")
    assert (said.code, said.out) == (2, "")
    assert (
        said.err == "error: 'c1/a' names a node_pool and a component: choose one, for instance with --kind node_pool\n"
    )
    assert (await why(shell, "c1/a", "--kind", "component")).startswith("component c1/a  Running [Ok]")
    assert (await shell("why", "c1/a", "--kind", "node")).code == 2


async def test_a_log_that_was_cut_says_what_is_gone(shell: Shell, client: Client, wire: Wire) -> None:
    await take(client, *UP, ("node", "not_ready", "c1/a/n1"))
    (log, last) = (await client._session.layout()).log, client.history("node", "c1/a/n1")
    async for _ in last:
        pass
    await take(client, ("node", "overdue", "c1/a/n1"), ("cluster", "delete", "c1"))
    await wire.api(f"STREAM.PURGE.{log}", {"seq": last.sequence + 1})
    assert await why(shell, "c1/dns") == (
        "component c1/dns  Deleting [Progressing]  since T\n"
        "└── remove, fired by cluster c1\n"
        "    └── delete by /cluster, event E (seq 7) at T\n"
    )
    await wire.api(f"STREAM.PURGE.{log}", {"filter": await subject_of(client, "cluster", "c1")})
    assert await why(shell, "c1/dns") == (
        "component c1/dns  Deleting [Progressing]  since T\n"
        "└── remove, fired by cluster c1\n"
        "    └── by event E (seq 7) at T\n"
        "        └── the log has no record of event 7 at cluster c1\n"
    )
    node = (
        "node c1/a/n1  Deleting [Balance, Progressing]  since T\n"
        "├── Balance: at the latest with overdue by /node, event E (seq 6) at T\n"
        "│   └── what node c1/a/n1 went through before is no longer in the log\n"
        "└── Deleting: remove, fired by node_pool c1/a\n"
        "    └── remove, fired by cluster c1\n"
        "        └── by event E (seq 7) at T\n"
        "            └── the log has no record of event 7 at cluster c1\n"
    )
    assert await why(shell, "c1/a/n1") == node
    await wire.api(f"STREAM.PURGE.{log}")
    assert "├── Balance: at the latest with remove, fired by node_pool c1/a\n" in await why(shell, "c1/a/n1")


async def subject_of(client: Client, kind: str, entity_id: str) -> str:
    layout, tokens = await client._session.layout(), entity_id.replace("/", ".")
    return f"{layout.prefix}.log.*.transition.{kind}.*.*.{tokens}"


async def test_states_caught_in_the_middle_of_an_event(shell: Shell, client: Client, wire: Wire) -> None:
    """The pool's own is copied, what makes it so not yet: the log has both."""
    await take(client, *UP, ("node", "create", "c1/a/n2"))
    layout = await client._session.layout()
    whole = await why(shell, "c1/a")
    assert "1 of 2 nodes" in whole
    await wire.api(f"STREAM.PURGE.{layout.state}", {"filter": f"{layout.prefix}.state.*.node.c1.a.n2"})
    assert await why(shell, "c1/a") == whole


async def test_what_events_say_cannot_forge_the_screen(shell: Shell, client: Client) -> None:
    await take(
        client, ("cluster", "adopt", "[bold]c1", {"phase": "Running", "message": "[red]x[/red] \x1b[2Jgone\r\n└── y"})
    )
    said = await why(shell, "[bold]c1")
    assert said == (
        "cluster [bold]c1  Running [Ok]  since T\n"
        "└── adopt by /cluster, event E (seq 1) at T: [red]x[/red] \\x1b[2Jgone\\r\\n└── y\n"
    )

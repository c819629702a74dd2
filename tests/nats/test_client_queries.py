"""States now: one, many, a tree; ids of every sort; what is not there."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from phaseline.schemas.errors import EntityUnknown, InvalidInput, NameUnknown, NotProvisioned, TreeUnknown
from phaseline.schemas.records import Entity, State
from phaseline.schemas.subjects import natural
from tests.support.adoption import adopt
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Settings, Wire
from tests.support.own_installation import Client, Session
from tests.support.state_stream import until_answer

FLEET = [
    ("cluster", "c1", "Running"),
    ("node_pool", "c1/a", "Running"),
    ("node", "c1/a/n2", "Running"),
    ("node", "c1/a/n10", "Failed"),
    ("node_pool", "c1/b", "Running"),
    ("node", "c1/b/n1", "Deleting"),
    ("component", "c1/dns", "Failed"),
    ("cluster", "c.1*", "Running"),
    ("cluster", "é c", "Stopped"),
]


def names(entities: Iterable[Entity]) -> list[str]:
    return [f"{entity.kind} {entity.id}" for entity in entities]


@pytest.fixture
async def fleet(client: Client) -> Client:
    await adopt(client, FLEET)

    async def count() -> int:
        return len([entity async for entity in client.list(deleted=True)])

    await until_answer(count, len(FLEET))
    return client


async def test_one_entity_whole(client: Client) -> None:
    await client.publish("cluster", "adopt", "c1", {"phase": "Running"})
    data = {"phase": "Running", "autoscaling_mode": "Recycle", "reason": "Found", "message": "it was there"}
    done = await client.publish_and_wait("node_pool", "adopt", "c1/a", data, source="/agent", sequence=3)
    found = await client.get("node_pool", "c1/a")
    assert found == done.transitions[0].entity
    assert (found.version, found.attributes, found.sequences) == (1, {"autoscaling_mode": "Recycle"}, {"/agent": 3})
    last = await client.last("node_pool", "c1/a")
    assert last == done.transitions[0]
    assert (last.trigger, last.reason, last.message) == ("adopt", "Found", "it was there")


async def test_ids_of_every_sort(fleet: Client) -> None:
    for kind, name, phase in FLEET:
        assert (await fleet.get(kind, name)).facets[0].base.phase == phase


LISTS: list[tuple[dict[str, Any], list[str]]] = [
    #  asked                                found
    ({"kind": "node"}, ["node c1/a/n2", "node c1/a/n10", "node c1/b/n1"]),
    ({"kind": "node", "state": "Failed"}, ["node c1/a/n10"]),
    ({"kind": "node", "tree": "c1/a"}, ["node c1/a/n2", "node c1/a/n10"]),
    ({"kind": "node", "tree": "c1/a/n2"}, ["node c1/a/n2"]),
    ({"kind": "cluster", "tree": "c1"}, ["cluster c1"]),
    ({"kind": "cluster"}, ["cluster c1", "cluster c.1*", "cluster é c"]),
    ({"state": "Failed"}, ["node c1/a/n10", "component c1/dns"]),
    ({"tree": "c1/b"}, ["node_pool c1/b", "node c1/b/n1"]),
    ({"tree": "c.1*"}, ["cluster c.1*"]),
    ({"tree": "nowhere"}, []),
    ({"kind": "cluster", "state": "Starting"}, []),
    ({"class_": "bad"}, ["node c1/a/n10", "component c1/dns"]),
    ({"class_": ("bad", "gone"), "kind": "node", "lasting": 0}, ["node c1/a/n10"]),
    ({"class_": "bad", "lasting": 86_400}, []),
]


async def test_lists(fleet: Client) -> None:
    for asked, found in LISTS:
        assert sorted(names([entity async for entity in fleet.list(**asked)])) == sorted(found), asked


async def test_a_list_is_in_natural_order(fleet: Client) -> None:
    listed = names([entity async for entity in fleet.list(tree="c1")])
    assert listed == [f"{kind} {name}" for kind, name, _ in FLEET[:7]]
    assert listed == names(await fleet.tree("c1"))
    assert names(await fleet.tree("c1/a")) == listed[1:4]


def test_numbers_in_names_sort_as_numbers() -> None:
    ids = ["a", "a/2", "a/10", "a/b", "a2", "a10b", "a10b/1", "b"]
    shuffled = [ids[3], *ids[4:], *ids[:3]]
    assert sorted(shuffled, key=natural) == ids


async def test_the_deleted_are_known_and_not_listed(fleet: Client) -> None:
    await fleet.publish_and_wait("node", "deleted", "c1/b/n1")

    async def state() -> State:
        return (await fleet.get("node", "c1/b/n1")).facets[0].state

    await until_answer(state, State("Deleted", ()))
    assert "node c1/b/n1" not in names([entity async for entity in fleet.list("node")])
    assert "node c1/b/n1" not in names(await fleet.tree("c1"))
    assert "node c1/b/n1" in names([entity async for entity in fleet.list("node", deleted=True)])
    assert "node c1/b/n1" in names(await fleet.tree("c1", deleted=True))
    assert names([entity async for entity in fleet.list(state="Deleted")]) == ["node c1/b/n1"]


async def test_marks_are_no_entities(fleet: Client) -> None:
    before = names([entity async for entity in fleet.list()])
    done = await fleet.publish_and_wait("cluster", "recovered", "c1", sequence=9)
    assert done.effect == "none"
    assert names([entity async for entity in fleet.list()]) == before


UNKNOWN: list[tuple[Callable[[Client], Awaitable[Any]], type[Exception], str]] = [
    (lambda client: client.get("cluster", "c9"), EntityUnknown, "no cluster 'c9'"),
    (lambda client: client.last("node", "c9/a/b"), EntityUnknown, "no node"),
    (lambda client: client.get("claster", "c1"), NameUnknown, "cluster, node_pool, node, component"),
    (lambda client: client.get("node", "c1"), InvalidInput, "<cluster>/<pool>/<node>"),
    (lambda client: client.get("cluster", ""), InvalidInput, "empty part"),
    (lambda client: client.tree("c9"), TreeUnknown, "'c9'"),
    (lambda client: client.tree("c1//"), InvalidInput, "empty part"),
    (lambda client: anext(aiter(client.list("claster"))), NameUnknown, "kind 'claster'"),
    (lambda client: anext(aiter(client.list("node", state="Scaling"))), NameUnknown, "state 'Scaling'"),
    (lambda client: anext(aiter(client.list("node", condition="Balanse"))), NameUnknown, "condition 'Balanse'"),
    (lambda client: anext(aiter(client.list("node", state="{Failed"))), InvalidInput, "write a phase"),
    (lambda client: anext(aiter(client.list(state="{Failed,[Balanse,*]}"))), NameUnknown, "condition 'Balanse'"),
    (lambda client: anext(client.watch(condition=("Balance", "Balanse"))), NameUnknown, "condition 'Balanse'"),
    (lambda client: anext(aiter(client.list("cluster", tree="c1/a"))), InvalidInput, "no cluster can be under"),
    (lambda client: anext(client.history("node", "c1/a/n1")), EntityUnknown, "no node"),
    (lambda client: anext(client.rejections(reason="mood")), NameUnknown, "illegal, guard"),
    (lambda client: anext(client.watch(facet="mood")), NameUnknown, "phase"),
    (lambda client: anext(client.watch(start="soon")), NameUnknown, "now, start"),
    (lambda client: anext(client.watch(tree="c1/a/n1/x/y/z/w", start="start")), InvalidInput, "no kind can be under"),
]


async def test_what_is_not_there(client: Client) -> None:
    async def asking(ask: Callable[[Client], Awaitable[Any]]) -> None:
        await ask(client)

    for ask, error, says in UNKNOWN:
        with pytest.raises(error, match=says):
            await asking(ask)


async def test_no_installation_is_said_so(wire: Wire, settings: Settings) -> None:
    client = Client(Session(wire, settings, BUILT_IN_KINDS, "/test"))
    with pytest.raises(NotProvisioned, match=settings.prefix):
        await client.get("cluster", "c1")
    with pytest.raises(NotProvisioned):
        await anext(client.watch())


async def test_selecting_by_conditions(client: Client) -> None:
    for name, conditions in (("a", ["Balance"]), ("b", ["Unschedulable", "Balance"]), ("c", ["NotReady"])):
        await client.publish("node", "adopt", f"c1/p/{name}", {"phase": "Failed", "conditions": conditions})
    await client.publish_and_wait("node", "cordon", "c1/p/c")

    async def found(**which: Any) -> list[str]:
        return [entity.id[-1] async for entity in client.list("node", **which)]

    async def unschedulable() -> int:
        return len(await found(condition="Unschedulable"))

    await until_answer(unschedulable, 2)
    assert await found(condition="Balance") == ["a", "b"]
    assert await found(condition=("Balance", "Unschedulable")) == ["b"]
    assert await found(state="{Failed,[Balance,*]}") == ["a", "b"]
    assert await found(state="{Failed,[Balance]}") == ["a"]
    assert await found(state="Running", condition="Balance") == []
    watch = client.watch("node", state="{*,[Unschedulable,*]}", start="start", follow=False)
    assert [(record.entity.id[-1], record.trigger) async for record in watch] == [("b", "adopt"), ("c", "cordon")]


async def test_rejections_in_numbers(client: Client) -> None:
    for number in range(3):
        await client.publish("cluster", "update", f"c{number}", source="/ops")
    done = await client.publish_and_wait("cluster", "update", "c9", source="/me")
    counts = await client.rejection_counts()
    assert [(one.count, one.reason, one.kind, one.source) for one in counts] == [
        (3, "illegal", "cluster", "/ops"), (1, "illegal", "cluster", "/me"),
    ]  # fmt: skip
    assert (counts[0].last.trigger, counts[1].last) == ("update", done.rejection)
    assert await client.rejection_counts(reason="guard") == []
    late = await client.rejection_counts(start=max(one.place for one in counts))
    assert [one.count for one in late] == [1]


async def test_rejections_of_a_tree_with_a_long_name(client: Client) -> None:
    """Their subjects keep the beginning of a name only, which another tree may have too."""
    trees = [f"{'x' * 70}{end}" for end in "ab"]
    for tree in trees:
        await client.publish_and_wait("cluster", "update", tree)
    for tree in trees:
        assert [record.id async for record in client.rejections(tree=tree)] == [tree]
        watch = client.watch(tree=tree, start="start", rejections=True, follow=False)
        assert [getattr(record, "id", None) async for record in watch] == [tree]


NODE = "c1/p/a"


async def said_of(client: Client) -> list[tuple[str, str, str | None, int]]:
    found = await (await client.at()).said(await client.get("node", NODE))
    return [(one.facet, one.condition, one.reason, one.count) for one in found]


async def test_what_was_said_of_one_that_had_fewer_facets_once(client: Client) -> None:
    """The first records of an entity leave out the facets that say nothing yet, such as `signals`."""
    await client.publish("node", "adopt", NODE, {"phase": "Running"})
    await client.publish("node", "condition", NODE, {"name": "Reclaim", "status": "True", "reason": "Spot"})
    await client.publish_and_wait("node", "not_ready", NODE, {"reason": "NoStatus"}, source="/kcm")
    await until_answer(
        lambda: said_of(client), [("phase", "NotReady", "NoStatus", 1), ("signals", "Reclaim", "Spot", 1)]
    )


async def test_what_is_said_of_a_signal_is_no_reason_of_another(client: Client) -> None:
    await client.publish("node", "adopt", NODE, {"phase": "Running"})
    for name, reason in (("Disk", "Full"), ("Kernel", "Stuck"), ("Disk", "Full"), ("Kernel", "Other")):
        await client.publish("node", "condition", NODE, {"name": name, "status": "True", "reason": reason})
    await client.publish_and_wait("node", "condition", NODE, {"name": "Ready", "status": "True", "reason": "Other"})
    await until_answer(lambda: said_of(client), [("signals", "Disk", "Full", 2), ("signals", "Kernel", "Other", 1)])
    found = {"Kernel": {"status": "True", "reason": "Third"}}
    await client.publish_and_wait("node", "reported", NODE, {"phase": "Running", "signals": found})
    await until_answer(lambda: said_of(client), [("signals", "Kernel", "Third", 1)])


async def test_the_message_of_a_report_is_none_of_a_signal(client: Client) -> None:
    await client.publish("node", "adopt", NODE, {"phase": "Running"})
    await client.publish("node", "condition", NODE, {"name": "Disk", "status": "True", "message": "91 %"})
    data = {
        "phase": "Failed",
        "conditions": ["NotReady"],
        "message": "stopped",
        "signals": {"Disk": {"status": "True"}},
    }
    await client.publish_and_wait("node", "reported", NODE, data)
    found = await (await client.at()).said(await client.get("node", NODE))
    [disk] = [one for one in found if one.condition == "Disk"]
    assert (disk.count, disk.message) == (2, "91 %")


async def test_what_was_refused_is_not_counted_as_said_again(client: Client) -> None:
    """Not even if it has the words of what stands: it was about another thing."""
    await client.publish("node", "adopt", NODE, {"phase": "Running", "uid": "k8s:1"})
    await client.publish("node", "reported", NODE, {"phase": "Running", "uid": "k8s:2"})
    await client.publish("node", "not_ready", NODE, {"reason": "NoStatus", "uid": "k8s:2"})
    await client.publish("node", "reported", NODE, {"phase": "Running", "uid": "k8s:1"}, source="/late")
    done = await client.publish_and_wait("node", "not_ready", NODE, {"reason": "NoStatus", "uid": "k8s:1"})
    assert done.rejection is not None
    assert done.rejection.reason == "stale"
    await until_answer(lambda: said_of(client), [("phase", "NotReady", "NoStatus", 1)])
    [phase, *_] = (await client.why("node", NODE)).facets
    assert phase.contradicted_by == ()

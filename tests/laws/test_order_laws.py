"""Late, doubled and reordered news: laws over what several sources tell of one world.

Belongs here: facts that end in the same states in each order that their sources allow, copies that come late, sources
that start again, clocks that are wrong, silences, identities of what has ended, reasons that stay. Does not: lives of
nodes (`test_life_laws`), numbers of sources (`test_source_laws`), single cases (`tests/pure/test_*_stories`).
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.endings import is_seen_gone
from phaseline.machines.language.fields import UID
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND, Entity, Rejection, Transition, own_facets
from tests.support.built_in_kinds import KINDS_OF_PRODUCT, family
from tests.support.contacts import Contacts
from tests.support.own_kinds import own_kinds
from tests.support.strategies import History, HistoryStep, Sent, event, hold, random_event

OWN = "kinds of the docs"
FAMILIES = (*KINDS_OF_PRODUCT, OWN)
RANDOM = st.integers(0, 2**63).map(Random)
"""Worlds are drawn evenly: smaller ones are no easier to understand, and a history is printed whole."""


class Fact(NamedTuple):
    """What a source tells. needs: the names of facts without which it could not be told. name: that of this one."""

    kind: str
    trigger: str
    id: str
    data: dict[str, Any]
    needs: tuple[str, ...] = ()
    name: str = ""


World = dict[str, list[Fact]]
"""By source, what it tells, in its order."""


# ---- the worlds: what is told of each, and by whom


def some(random: Random, share: float, *facts: Fact) -> list[Fact]:
    return [*facts] if random.random() < share else []


def fleet(random: Random) -> World:
    """A repository with a bundle on two clusters: Fleet's controllers, an agent of each cluster, its check-ins."""
    git = [Fact("git_repo", "fetched", "infra", {"commit": "a"})]
    git += some(random, 0.5, Fact("git_repo", "fetched", "infra", {"commit": "b"}))
    git += some(random, 0.3, Fact("git_repo", "failed", "infra", {"message": "no rights"}))
    git += some(random, 0.5, Fact("git_repo", "recovered", "infra", {}))
    bundle = [Fact("bundle", "rollout", "infra/web", {"commit": random.choice("ab")})]
    bundle += some(random, 0.3, Fact("bundle", "failed", "infra/web", {"message": "no targets"}))
    world = {"git": git, "bundle": bundle}
    for at in ("infra/web/c1", "infra/web/c2"):
        controller, agent = list[Fact](), list[Fact]()
        for wanted in ("v1", "v2")[: random.choice((1, 2))]:
            of, known = {"deployment_id": wanted}, f"{at} {wanted}"
            controller.append(Fact("bundle_deployment", "staged", at, of))
            controller.append(Fact("bundle_deployment", "target", at, of, (), known))
            agent += some(
                random, 0.3, Fact("bundle_deployment", "apply_failed", at, {**of, "message": "quota"}, (known,))
            )
            agent += some(random, 0.8, Fact("bundle_deployment", "applied", at, of, (known,)))
            for name in "xy":
                found = random.choice(("ready", "not_ready", "modified", "missing", "orphaned"))
                part = Fact("bundle_resource", found, f"{at}/core:ConfigMap/shop/{name}", {"message": "so it is"})
                agent += some(random, 0.7, part)
        world |= {f"controller of {at}": controller, f"agent of {at}": agent}
        world[f"cluster of {at}"] = some(random, 0.3, Fact("bundle_deployment", "checked_in", at, {"last_seen": None}))
    return world


ANSWERS = (("applied",), ("failed",), ("failed", "applied"), ("retrying", "applied"))


def emco(random: Random) -> World:
    """A group on two clusters: its user, and rsync and the monitor of each cluster.

    What is asked is asked once what was asked before is answered: a failure that is told late is one of the deletion.
    """
    places = [f"g/c1/web/p+e{cluster}" for cluster in (1, 2)]
    parts = {at: [f"{at}/d{number}+Deployment" for number in (1, 2)] for at in places}
    user = [Fact("emco_resource", "create", "g", {}), Fact("emco_resource", "approve", "g", {})]
    user.append(Fact("app_context", "create", "g/c1", {}))
    user += [Fact("rsync_resource", "add", one, {}) for at in places for one in parts[at]]
    user.append(Fact("emco_resource", "instantiate", "g", {"context": "c1"}, (), "asked"))
    world, answers = {"user": user}, list[str]()
    for at in places:
        rsync, monitor = list[Fact](), list[Fact]()
        for one in parts[at]:
            told = random.choice(ANSWERS)
            rsync += [
                Fact("rsync_resource", word, one, {"message": "so"}, ("asked",), f"{one} {word}") for word in told
            ]
            answers.append(f"{one} {told[-1]}")
        listed = [{"metadata": {"name": f"d{number}"}} for number in (1, 2) if random.random() < 0.7]
        report = {"status": {"deploymentStatuses": listed}}
        monitor += some(random, 0.5, Fact("app_cluster", "bundle_state", at, report, ("asked",), f"{at} listed"))
        answers += [one.name for one in monitor]
        monitor += some(random, 0.3, Fact("app_cluster", "disconnected", at, {}, ("asked",)))
        monitor += some(random, 0.3, Fact("app_cluster", "connected", at, {}, ("asked",)))
        world |= {f"rsync of {at}": rsync, f"monitor of {at}": monitor}
    if random.random() < 0.6:
        user.append(Fact("emco_resource", "terminate", "g", {}, tuple(answers), "ended"))
        for one in (one for at in places for one in parts[at]):
            words = random.choice((("terminated",), ("failed",), ("failed", "terminated"), ()))
            gone = [Fact("rsync_resource", word, one, {"message": "so"}, ("ended",)) for word in words]
            world[f"rsync of {one.rpartition('/')[0]}"] += gone
    return world


def edge_hosting(random: Random) -> World:
    """A node of which its kubelet, its cloud, its biller and its operator know a part each."""
    start = [
        Fact("cluster", "adopt", "c", {"phase": "Running"}),
        Fact("node_pool", "adopt", "c/p", {"phase": "Running"}),
    ]
    start.append(Fact("node", "adopt", "c/p/a", {"phase": "Running"}, (), "there"))
    said = {
        "kubelet": ("node", "c/p/a", ("not_ready", "ready")), "cloud": ("node", "c/p/a", ("error", "recovered")),
        "biller": ("node", "c/p/a", ("overdue", "renewed")), "operator": ("node", "c/p/a", ("cordon", "uncordon")),
        "payments": ("cluster", "c", ("overdue", "renewed", "started")),
        "pools": ("node_pool", "c/p", ("error", "recovered")),
    }  # fmt: skip
    world = {"start": start}
    for source, (kind, at, words) in said.items():
        world[source] = [Fact(kind, random.choice(words), at, {}, ("there",)) for _ in range(random.choice(range(4)))]
    return world


WELL = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it is late"}
ILL = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 0, "readyReplicas": 0, "conditions": [LATE]}


def gitops(random: Random) -> World:
    """An application with three Deployments, each watched by itself, and what its controllers say of the whole."""
    world = {"settings": some(random, 0.7, Fact("application", "configure", "s/a", {}))}
    for name in "xyz":
        world[name] = list[Fact]()
        for _ in range(random.choice(range(3))):
            metadata = {"namespace": "ns", "name": name, "generation": 1}
            whole = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": 1}}
            live = random.choice((None, {**whole, "status": WELL}, {**whole, "status": ILL}))
            data: dict[str, Any] = {"live": live}
            if live is None or random.random() < 0.6:
                data["desired"] = {**whole, "spec": {"replicas": random.choice((1, 2))}}
            world[name].append(Fact("resource", "observed", f"s/a/apps:Deployment/ns/{name}", data))
    whole_says: tuple[dict[str, Any], ...] = ({}, {"reported_health": "Degraded"}, {"reported_sync": "OutOfSync"})
    told = [random.choice(whole_says) for _ in range(random.choice(range(3)))]
    world["controller"] = [Fact("application", "observed", "s/a", one) for one in told]
    return world


def own(random: Random) -> World:
    """Backups and releases, as the docs build them: who asks, an agent of each job, two judges of a release."""
    asks = [Fact("backup_policy", "create", "nightly", {})]
    pause = (Fact("backup_policy", "suspend", "nightly", {}), Fact("backup_policy", "resume", "nightly", {}))
    asks += some(random, 0.5, *pause)  # it is asked for before a job runs: requests are judged by what is shown
    tries = random.choice((1, 2))
    asks += [Fact("backup_job", "create", f"nightly/{name}", {"attempts": tries}, (), name) for name in "ab"]
    owner = [Fact("release", "create", "r", {}), Fact("release", "approve", "r", {})]
    owner.append(Fact("release", "start", "r", {}, (), "begun"))
    world = {"operator": asks, "owner": owner}
    for name in "ab":
        words = random.choice((("started", "succeeded"), ("started", "failed"), ("started", "failed", "started"), ()))
        world[f"agent of {name}"] = [Fact("backup_job", word, f"nightly/{name}", {}, (name,)) for word in words]
    for source, words in (("checks", ("checks_failed", "checks_passed")), ("watchdog", ("timed_out", "resumed"))):
        told = [random.choice(words) for _ in range(random.choice(range(4)))]
        world[source] = [Fact("release", word, "r", {}, ("begun",)) for word in told]
    installer = [Fact("rack", "create", "x", {})]
    installer += [Fact("rack", random.choice(("created", "failed")), "x", {}) for _ in range(random.choice(range(3)))]
    return {**world, "installer": installer}


WORLDS: dict[str, Callable[[Random], World]] = {
    "fleet": fleet, "emco": emco, "edge-hosting": edge_hosting, "gitops": gitops, OWN: own,
}  # fmt: skip


# ---- telling them


def an_order(world: World, random: Random) -> Iterator[tuple[str, int, Fact]]:
    """The facts in one of the orders that their sources allow, each with its source and its number there."""
    left, known = {source: 0 for source, facts in world.items() if facts}, set[str]()
    while left:
        able = [source for source, number in left.items() if known.issuperset(world[source][number].needs)]
        if not able:
            return
        source = random.choice(able)
        number, facts = left[source], world[source]
        yield source, number + 1, facts[number]
        known.add(facts[number].name)
        left[source] += 1
        if left[source] == len(facts):
            del left[source]


def kinds_of(name: str) -> Kinds:
    return own_kinds() if name == OWN else family(name)


class Source:
    """Numbers what a source tells. It may start again from 1; then its epoch is a greater one."""

    def __init__(self, name: str) -> None:
        self.name, self.number, self.epoch = f"/{name.replace(' ', '-')}", 0, 0

    def says(self, fact: Fact, random: Random, *, restarts: float) -> Sent:
        """An event with the next number, and with the time of a clock that is not to be trusted."""
        if random.random() < restarts:
            self.number, self.epoch = 0, self.epoch + random.choice((1, 1_000))
        self.number += 1
        numbered = {"sequence": self.number} | ({"epoch": self.epoch} if self.epoch else {})
        return event(
            fact.kind, fact.trigger, fact.id, fact.data, source=self.name, time=random.choice(CLOCKS), **numbered
        )


CLOCKS = ("1970-01-01T00:00:00Z", "2026-03-02T08:00:00Z", "2038-01-19T03:14:08Z")


def sent(source: str, fact: Fact) -> Sent:
    return event(fact.kind, fact.trigger, fact.id, fact.data, source=f"/{source.replace(' ', '-')}")


def states(history: History | Contacts) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Bases and states of all facets but `contact`; conditions have no order here, because they arrive in any."""
    return {
        (kind, entity.id, facet.facet.name): (
            found.base.phase, *sorted(found.base.conditions), found.state.phase, *sorted(found.state.conditions),
        )
        for kind, entities in history.tree.entities.items()
        for entity in entities.values()
        for facet, found in zip(history.tree.kinds[kind].machines, own_facets(entity), strict=False)
    }  # fmt: skip


def told(name: str, world: World, random: Random, *, late: float = 0.0, restarts: float = 0.0) -> History:
    """The history of a world in one order. late: with numbers, and that share of copies that come late.

    restarts: the share of events before which their source begins to count again.
    """
    history, before = History(kinds_of(name)), list[Sent]()
    sources = {source: Source(source) for source in world}
    for source, _, fact in an_order(world, random):
        if not late:
            history.take(sent(source, fact))
            continue
        before.append(sources[source].says(fact, random, restarts=restarts))
        history.take(before[-1])
        if random.random() < late:
            copy = history.take(again(random.choice(before)))
            assert not [record for record in copy.records if isinstance(record, Transition)], copy
    return history


def again(told_before: Sent) -> Sent:
    """The same event as an observer tells it anew: by another id."""
    body = codec.decode(told_before.body)
    return Sent(told_before.subject, codec.encode({**body, "id": f"{body['id']}-again"}))


def told_with_silences(name: str, world: World, random: Random) -> Contacts:
    """The same in one order, with pauses after which places are silent; in the end all of them are heard again."""
    told_so = Contacts(kinds_of(name), default=4.0)
    for source, _, fact in an_order(world, random):
        found = sent(source, fact)
        told_so.wait(random.choice((0, 1, 7))).store(found.subject, found.body, int(told_so.now * SECOND))
    for kind in told_so.tree.kinds.values():
        for entity_id in [*told_so.tree.entities[kind.name]] if kind.table.place else ():
            told_so.beat(kind.name, entity_id)
    return told_so


# ---- the laws


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_facts_end_in_the_same_states_in_any_order(name: str, effort: str) -> None:
    def law(random: Random) -> None:
        world = WORLDS[name](random)
        first, other = told(name, world, random), told(name, world, random)
        assert states(first) == states(other), (first, other)

    hold(law, RANDOM, effort)


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_copy_that_comes_late_changes_nothing(name: str, effort: str) -> None:
    def law(random: Random) -> None:
        world = WORLDS[name](random)
        assert states(told(name, world, random)) == states(told(name, world, random, late=0.5))

    hold(law, RANDOM, effort)


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_sources_that_start_again_end_in_the_same_states(name: str, effort: str) -> None:
    """Each counts from 1 in a greater epoch then, and what its former runs told may come once more."""

    def law(random: Random) -> None:
        world = WORLDS[name](random)
        assert states(told(name, world, random)) == states(told(name, world, random, late=0.3, restarts=0.4))

    hold(law, RANDOM, effort)


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_silences_that_are_over_leave_no_trace_in_states(name: str, effort: str) -> None:
    def law(random: Random) -> None:
        world = WORLDS[name](random)
        spoken, silent = told(name, world, random), told_with_silences(name, world, random)
        assert states(spoken) == states(silent), (spoken, silent.stored_events)

    hold(law, RANDOM, effort)


class Lives:
    """A random history with identities, and the identities that ended for each entity."""

    def __init__(self, name: str) -> None:
        self.history, self.ended = History(kinds_of(name)), dict[tuple[str, str], set[str]]()

    def take(self, random: Random) -> tuple[dict[tuple[str, str], Entity], HistoryStep]:
        """Decide one more event; returns the entities before it, and the step."""
        before = {(kind, one.id): one for kind, found in self.history.tree.entities.items() for one in found.values()}
        step = self.history.take(self._identified(random_event(self.history, random.randbytes(SEED_LENGTH)), random))
        for key, one in self.every():
            if is_seen_gone(one.facets[0].base.phase, one.attributes) and one.memory is not None:
                self.ended.setdefault(key, set()).update(one.memory.identities)
        return before, step

    def every(self) -> Iterator[tuple[tuple[str, str], Entity]]:
        for kind, found in self.history.tree.entities.items():
            yield from (((kind, one.id), one) for one in found.values())

    def _identified(self, found: Sent, random: Random) -> Sent:
        """The event, and most observations with the identity of one of three things."""
        if random.random() < 0.4:
            return found
        try:
            body = codec.decode(found.body)
            kind, trigger = body["type"].split(".")
            is_observed = self.history.kinds[kind].roles[trigger] == "observation" and trigger != "snapshot"
        except (codec.Undecodable, KeyError, TypeError, ValueError):
            return found
        data = {**body["data"], UID: f"k8s:{random.choice(range(3))}"}
        return Sent(found.subject, codec.encode({**body, "data": data})) if is_observed else found


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_was_seen_to_be_gone_lives_again_by_proof_only(name: str, effort: str) -> None:
    """By a report that has seen the end, by another thing, or by words that name no thing at all."""

    def law(random: Random) -> None:
        lives = Lives(name)
        for _ in range(60):
            before, step = lives.take(random)
            for record in step.records:
                if isinstance(record, Rejection):
                    assert record.reason
                    assert record.message
                elif isinstance(record, Transition) and record.before is not None and record.before.phase == DELETED:
                    lived_again_by_proof(lives, before[record.entity.kind, record.entity.id], record, step)

    hold(law, RANDOM, effort)


def lived_again_by_proof(lives: Lives, was: Entity, record: Transition, step: HistoryStep) -> None:
    read = step.read
    assert not isinstance(read, Rejection)
    if record.after.phase in (ABSENT, DELETED) or not is_seen_gone(was.facets[0].base.phase, was.attributes):
        return
    key, kind = (read.kind, read.id), lives.history.kinds[read.kind]
    if kind.roles[read.trigger] == "intent" or read.trigger in (REPORTED, "snapshot"):
        return
    uid = read.data.get(UID)
    assert uid not in lives.ended.get(key, ()) or uid is None or kind.table.replaced_by is None, step
    if key != (record.entity.kind, record.entity.id):
        assert uid is not None, step


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_was_taken_of_a_thing_that_lives_is_no_word_of_an_earlier_one(name: str, effort: str) -> None:
    """Also where the thing was gone, and is there again: its next word is about the life that it began."""

    def law(random: Random) -> None:
        lives = Lives(name)
        for _ in range(60):
            _, step = lives.take(random)
            read = step.read
            if isinstance(read, Rejection) or not any(isinstance(one, Transition) for one in step.records):
                continue
            names_it = (
                lives.history.kinds[read.kind].common[read.trigger][-1].name == UID
            )  # and no field of the table does
            uid, entity = read.data.get(UID) if names_it else None, lives.history.tree.get(read.kind, read.id)
            if uid is not None and entity is not None and entity.facets[0].base.phase not in (ABSENT, DELETED):
                assert entity.memory is not None, step
                assert uid in entity.memory.identities, step
                assert uid not in entity.memory.former, step

    hold(law, RANDOM, effort)


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_reason_stays_as_long_as_its_bad_state(name: str, effort: str) -> None:
    """What was said of a bad state is not lost when the same is said again without words, or when something else is."""

    def law(random: Random) -> None:
        history = History(kinds_of(name))
        for _ in range(60):
            before = {(kind, one.id): one for kind, found in history.tree.entities.items() for one in found.values()}
            step = history.take(random_event(history, random.randbytes(SEED_LENGTH)))
            for record in step.records:
                if isinstance(record, Transition) and (was := before.get((record.entity.kind, record.entity.id))):
                    keeps_reasons(history, was, record.entity, step)

    hold(law, RANDOM, effort)


def keeps_reasons(history: History, was: Entity, now: Entity, step: HistoryStep) -> None:
    for facet, old, new in zip(history.kinds[now.kind].machines, was.facets, now.facets, strict=False):
        attribute = facet.facet.message_from
        is_same = old.state == new.state and old.base == new.base
        if attribute is None or not is_same or class_of(facet.facet, new.base) != "bad":
            continue
        assert now.attributes.get(attribute) or not was.attributes.get(attribute), step

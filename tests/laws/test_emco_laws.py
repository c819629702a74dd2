"""The laws of the core over random histories of EMCO's resources, which begin with applications being deployed."""

from collections.abc import Callable

from hypothesis import strategies as st

from phaseline.engine.products.emco import design_shape
from phaseline.engine.products.emco.query import read
from phaseline.engine.products.emco.select import select
from phaseline.engine.surfaces.testing.laws import LAWS
from phaseline.schemas.errors import InvalidInput
from tests.support.built_in_kinds import family
from tests.support.strategies import History, Sent, event, hold, law_by_law, random_event, seeds

KINDS = family("emco")
ROOTS = ("r1", "r2")
PLACES = ("c1/a1/c1", "c1/a1/c2", "c2/a1/c1", "c2/a2/c1")
LISTED = ("Deployment", "Pod", "ProviderNetwork")
NAMES = ("n1+Deployment", "n2+Pod", "n1+ProviderNetwork")
RSYNC_TRIGGERS = ("add", "applied", "failed", "retrying", "terminated")


def prelude() -> list[Sent]:
    """Two groups with two contexts each. One context of each group is instantiated; the second group's is applied."""
    events = []
    for root in ROOTS:
        events += [event("emco_resource", "create", root), event("emco_resource", "approve", root)]
        events += [event("app_context", "create", f"{root}/{name}") for name in ("c1", "c2")]
        events += [event("rsync_resource", "add", f"{root}/{place}/n{n}") for place in PLACES for n in (1, 2)]
        events.append(event("emco_resource", "instantiate", root, {"context": "c1"}))
    return [*events, *(event("rsync_resource", "applied", f"r2/{place}/n{n}") for place in PLACES[:2] for n in (1, 2))]


def reported(seed: bytes) -> Sent:
    """A cluster's report that lists some of the possible resources."""
    root, place = ROOTS[seed[1] % 2], PLACES[seed[2] % 4]
    listed = [
        {"group": "", "version": "v1", "kind": LISTED[byte % 3], "name": f"n{byte % 4}"}
        for byte in seed[4 : 4 + seed[3] % 4]
    ]
    supports = {"supports": ["", "Pod"]} if seed[5] % 3 == 0 else {}
    return event("app_cluster", "bundle_state", f"{root}/{place}", {"status": {"resourceStatuses": listed}, **supports})


def by_rsync(seed: bytes) -> Sent:
    """An event of rsync about a resource whose name contains its kind."""
    place = f"{ROOTS[seed[1] % 2]}/{PLACES[seed[2] % 4]}/{NAMES[seed[3] % 3]}"
    return event("rsync_resource", RSYNC_TRIGGERS[seed[4] % 5], place)


def replaced(seed: bytes) -> Sent:
    """An update or a rollback of a group; it may have to end a stop or a failure."""
    root, named = ROOTS[seed[1] % 2], ("c1", "c2")[seed[3] % 2]
    if seed[2] % 3 == 0:
        return event("emco_resource", "rollback", root, {"revision": 1 + seed[3] % 3})
    return event("emco_resource", "update", root, {"context": named})


def lives() -> st.SearchStrategy[History]:
    return seeds(20, 80).map(life)


def life(wanted: list[bytes]) -> History:
    history = History(KINDS)
    for sent in prelude():
        assert history.take(sent).accepted
    for seed in wanted:
        by_number = {4: reported, 5: by_rsync, 6: reported, 7: replaced}.get(seed[0] % 8)
        history.take(random_event(history, seed) if by_number is None else by_number(seed))
    return history


def status_counts_equal_a_fresh_count(history: History) -> None:
    """With any filters, the summary from tallies equals the counts of the list `all`."""
    for root in ROOTS:
        for parameters in ({}, {"app": ["a1"]}, {"cluster": ["c1"]}, {"app": ["a1"], "cluster": ["c2"]}):
            query = read({**parameters, "output": "summary"})
            try:
                short, long = (select(history.tree, root, query, items=items) for items in (False, True))
            except InvalidInput:  # nothing of that name is there
                continue
            if short is None or long is None:
                assert short is long
                continue
            assert short.counts() == long.counts()
            assert short.presence() == long.presence()
            body = design_shape.answer(long, read({**parameters, "output": "all"}), {})
            told = [found for app in body["resources"] for place in app["clusters"] for found in place["resources"]]
            if long.context is not None:
                assert sum(body["rsync-status"].values()) == sum("rsync-status" in found for found in told)
                assert sum(body["cluster-status"].values()) == len(told)


@law_by_law(*LAWS, status_counts_equal_a_fresh_count, effort="dear")
def test_law(law: Callable[[History], None], effort: str) -> None:
    hold(law, lives(), effort)


def test_the_histories_reach_every_state() -> None:
    """The random histories reach every state of every kind."""
    seen: set[tuple[str, str]] = set()

    def noted(history: History) -> None:
        for kind, found in history.tree.entities.items():
            seen.update((kind, facet.state.phase) for entity in found.values() for facet in entity.facets)

    hold(noted, lives(), "far")
    wanted = {
        "app_context": {
            "Instantiating",
            "Instantiated",
            "InstantiateFailed",
            "Terminating",
            "PreTerminate",
            "Updating",
        },
        "app_cluster": {"Unknown", "Available", "Unreachable"},
        "rsync_resource": {
            "Pending",
            "Applied",
            "Failed",
            "Retrying",
            "Terminated",
            "Unknown",
            "NotPresent",
            "Present",
        },
    }
    for kind, phases in wanted.items():
        assert phases <= {phase for of, phase in seen if of == kind}, kind

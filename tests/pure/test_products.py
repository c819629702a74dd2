"""Products: what no event may hold, that kinds without products decide nothing, and what is found by name."""

import re
from typing import Any

import pytest

from phaseline.engine.core import intake
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.publish import compose
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.client import product_views
from phaseline.engine.surfaces.http.app import Router
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.routes import OF_ID, ROUTES, Route, all_routes
from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler import packages
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.kubernetes.secret_values import SECRETS
from phaseline.machines.language.product import Ban, Bans, ClientView, NoProducts, Product
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.errors import EventRefused, SetupError
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects
from tests.support.lamp_table import lamp
from tests.support.own_product import CARD, CARDS, OWN
from tests.support.raising import raises

SUBJECTS, SUBJECT = Subjects("pl"), "pl.inbox.0.hall.lamp.create.l1"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mail"}, "data": {"password": "aHVudGVyMg=="}}


def body(**data: Any) -> bytes:
    event = {"id": "1", "source": "/me", "type": "lamp.create", "specversion": "1.0", "subject": "lamp/hall/l1"}
    return codec.encode({**event, "data": data})


def decided(kinds: Kinds, sent: bytes) -> Any:
    processor = Processor(Tree(kinds, NoScripts()), SUBJECTS, 0)
    return processor.answer(StoredEvent(SUBJECT, sent, 1, 1)).records[0]


def test_kinds_without_products_take_nothing() -> None:
    kinds = Kinds((lamp(),))
    for sent in (body(), body(live=SECRET)):
        with pytest.raises(NoProducts, match=r"write Kinds\(tables, products="):
            intake.read(kinds, SUBJECTS, SUBJECT, sent, 1, 1)
    with pytest.raises(NoProducts):
        Processor(Tree(kinds, NoScripts()), SUBJECTS, 0)
    with pytest.raises(NoProducts):
        kinds.check()  # what a worker calls before it begins
    event = compose.compose("lamp", "create", "hall/l1", {"live": SECRET}, {"source": "/me"})
    with pytest.raises(NoProducts):
        compose.pack(SUBJECTS, event, kinds)


def test_kinds_get_products_once() -> None:
    own = Kinds((lamp(),), products=OWN)
    assert own.guarded_by(PRODUCTS) is own
    open_ = Kinds((lamp(),))
    assert open_.digest
    guarded = open_.guarded_by(OWN)
    assert (guarded.digest, guarded.versions, open_.products) == (own.digest, own.versions, None)
    assert decided(guarded, body(card=CARD)).reason == "secret"


def test_the_bans_of_all_products_hold() -> None:
    kinds = Kinds((lamp(),), products=(*PRODUCTS, *OWN))
    for data in ({"live": SECRET}, {"card": CARD}):
        answer = decided(kinds, body(**data))
        assert isinstance(answer, Rejection)
        assert (answer.reason, answer.payload) == ("secret", None)
        event = compose.compose("lamp", "create", "hall/l1", data, {"source": "/me"})
        with pytest.raises(EventRefused, match=r"is a Secret|shows the number of a card"):
            compose.pack(SUBJECTS, event, kinds)
    assert not isinstance(decided(kinds, body()), Rejection)


def test_two_bans_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"two bans have one name: tests\.cards, tests\.cards"):
        Kinds((lamp(),), products=(*OWN, Product("other", bans=(CARDS,))))


def fails(_: Any) -> Any:
    raise ValueError(f"strange: {CARD}")


@pytest.mark.parametrize("broken", [CARDS._replace(may=fails), CARDS._replace(where=fails)], ids=["may", "where"])
def test_of_an_event_on_which_a_ban_fails_nothing_is_kept(broken: Ban) -> None:
    answer = decided(Kinds((lamp(),), products=(Product("broken", bans=(broken,)),)), body(card=CARD))
    assert (answer.reason, answer.payload, CARD in answer.message) == ("fault", None, False)
    assert "ValueError" in answer.message


def digest(*bans: Ban) -> str:
    return Kinds(BUILT_IN, checked=BUILT_IN, products=(Product("some", bans=bans),)).digest


def test_bans_count_in_the_digest_of_tables() -> None:
    of_tables, first = Kinds(BUILT_IN, checked=BUILT_IN).digest, SECRETS._replace(revision=1)
    assert digest(first) == of_tables  # logs were decided by it before digests named bans
    assert Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS).digest == digest(SECRETS)
    found = [
        digest(), digest(first), digest(SECRETS), digest(CARDS), digest(first, CARDS), digest(SECRETS, CARDS),
        digest(SECRETS, CARDS._replace(revision=2)),
    ]  # fmt: skip
    assert len(set(found)) == len(found)
    assert Bans.of((CARDS, SECRETS)).named == {"ban:tests.cards": "1", "ban:kubernetes.secrets": "2"}


async def served(call: Call) -> HttpAnswer:
    return HttpAnswer(call.values)


HERE = __name__
ROUTE = Route("GET", "/v1/lamps/{id}", "getLamp", served, "A lamp.", (OF_ID,))
FITS = (ROUTE,)
TAKEN = (ROUTE._replace(path="/v1/why/lamp/{id}"),)
NAMED = (ROUTE._replace(name="getEntity"),)
OUTSIDE = (ROUTE._replace(path="/lamps/{id}"),)
UNSAID = (ROUTE._replace(parameters=()),)
NONE = (1,)


def test_routes_of_products_stand_behind_our_own() -> None:
    found = all_routes((Product("lamps", routes=(f"{HERE}:FITS",)),))
    assert found == (*ROUTES, ROUTE)
    assert Router(found).find("GET", "/v1/lamps/hall/l1") == (ROUTE, {"id": "hall/l1"})
    assert {one.name for one in all_routes(PRODUCTS)} > {"getEmcoStatus", "getGitRepoStatus", "getEntity"}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("TAKEN", "GET /v1/why/lamp/{id} is a request of explainEntity (/v1/why/{kind}/{id})"),
        ("NAMED", "another route has the name getEntity"),
        ("OUTSIDE", "/lamps/{id} does not begin with /v1/"),
        ("UNSAID", "the parameters with is_path=True are not those of the path /v1/lamps/{id}"),
        ("NONE", "is no tuple of `phaseline.http.Route`"),
        ("ABSENT", "has no attribute 'ABSENT'"),
    ],
)
def test_routes_that_do_not_fit_are_refused(name: str, says: str) -> None:
    with raises(SetupError.kinds_broken, match=re.escape(says)):
        all_routes((Product("lamps", routes=(f"{HERE}:{name}",)),))
    with raises(SetupError.kinds_broken, match="another route has the name getLamp"):
        all_routes((Product("lamps", routes=(f"{HERE}:FITS", f"{HERE}:FITS")),))


class Lamps:
    """Reads for tests."""

    def __init__(self, source: object) -> None:
        self.source, self.colour = source, "red"


class Source:
    """What a client is for its reads."""

    def __init__(self, *views: ClientView) -> None:
        self.kinds = Kinds((lamp(),), products=(Product("lamps", bans=(CARDS,), views=views),))


LAMPS = ClientView("lamps", f"{HERE}:Lamps")


def test_reads_of_products_are_found_by_name() -> None:
    of_client, of_view = product_views.of_client, product_views.of_view
    source = Source(LAMPS, LAMPS._replace(name="shades", view=f"{HERE}:Lamps"))
    for found in (of_client(source, "lamps"), of_view(source, "shades")):
        assert isinstance(found, Lamps)
        assert found.source is source
    assert product_views.names(source.kinds) == ["lamps", "shades"]
    assert product_views.names(source.kinds, of_moments=True) == ["shades"]
    for find, name in ((of_client, "lamp"), (of_client, "_lamps"), (of_view, "lamps")):
        with pytest.raises(AttributeError, match=f"'Source' object has no attribute '{name}'"):
            find(source, name)
    assert product_views.names(Kinds((lamp(),))) == []


def test_reads_that_cannot_be_loaded_are_named() -> None:
    source = Source(LAMPS._replace(client="nowhere_at_all:Lamps"))
    with raises(
        SetupError.kinds_broken, match=r"the reads lamps \(nowhere_at_all:Lamps\) cannot be loaded: ModuleNotFound"
    ):
        product_views.of_client(source, "lamps")


@pytest.mark.parametrize(
    ("views", "says"),
    [
        ((LAMPS, LAMPS), "two packages have one name of reads: lamps"),
        ((LAMPS._replace(name="Lamps"),), "'Lamps' is no name of reads: write small letters, digits and underscores"),
    ],
)
def test_names_of_reads_that_do_not_fit_are_refused(views: tuple[ClientView, ...], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        packages.load((Product("lamps", kinds=(lamp(),), bans=(CARDS,), views=views),))

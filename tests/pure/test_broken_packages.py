"""A kind of somebody else's package that is broken: named with its package, and left out."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from phaseline.engine.core import intake
from phaseline.engine.surfaces.cli import names
from phaseline.engine.surfaces.cli.doctor import doctor
from phaseline.engine.surfaces.doctor import installation_checks
from phaseline.machines import built_in
from phaseline.machines.compiler.packages import load
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas import codec
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import Subjects
from tests.support.broken_packages import PACKAGES, Packages, install
from tests.support.command_line import get

RAW_SECRET = codec.encode({
    "specversion": "1.0", "id": "1", "source": "/me", "type": "resource.observed",
    "data": {"live": {"apiVersion": "v1", "kind": "Secret", "data": {"password": "aHVudGVyMg=="}}},
})  # fmt: skip


PROBLEMS = {
    "crate": ("bad_absent 1.2", "bad_absent:CRATE", "No module named 'nowhere_at_all' (bad_absent.py, line 1)"),
    "drum": ("bad_raises 1.2", "bad_raises:Y", "division by zero (bad_raises.py, line 2)"),
    "keg": ("bad_ends 1.2", "bad_ends:KEG", "no licence (bad_ends.py, line 2)"),
    "sack": ("bad_types 1.2", "bad_types:TABLE", "it must name a Product, a Table, or a tuple of tables"),
    "pod": ("bad_types 1.2", "bad_types:NOTHING", "module 'bad_types' has no attribute 'NOTHING'"),
    "cart": ("bad_table 1.2", "bad_table:CART", "nowhere"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages that this process finds."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [file.stem for file in tmp_path.glob("*.py")]:
        sys.modules.pop(name, None)


def test_every_break_is_named_and_the_others_are_used(site: Path) -> None:
    install(site, *PACKAGES)
    kinds = load(built_in.PRODUCTS)
    assert {"orchard", "row", "fruit", "ladder", *(table.kind for table in built_in.BUILT_IN)} == set(kinds)
    found = {one.entry_point: one for one in kinds.broken}
    assert set(found) == set(PROBLEMS)
    for name, (package, target, says) in PROBLEMS.items():
        assert (found[name].package, found[name].target) == (package, target)
        assert says in found[name].problem
        assert "\n" not in str(found[name])
    assert str(found["sack"]) == (
        "the kind sack of the package bad_types 1.2 (bad_types:TABLE) cannot be used: "
        "it must name a Product, a Table, or a tuple of tables"
    )


def test_several_wrong_tables_leave_what_grows_without_them(site: Path) -> None:
    install(site, "acme_row", "bad_table")  # rows need orchards
    kinds = load(built_in.PRODUCTS)
    assert {table.kind for table in built_in.BUILT_IN} == set(kinds)
    assert {one.entry_point for one in kinds.broken} == {"row", "cart"}


def test_packages_that_need_each_other_are_whole(site: Path) -> None:
    install(site, "acme_fruit", "acme_row", "acme_trees")
    kinds = load(built_in.PRODUCTS)
    assert kinds.broken == ()
    assert {"orchard", "row", "fruit", "ladder"} <= set(kinds)


def test_who_warns(one_broken: BrokenKind, capsys: pytest.CaptureFixture[str]) -> None:
    with click.Context(get):
        names.warn_of_broken_kinds()
    assert capsys.readouterr().err == f"warning: {one_broken}; it is left out here\n"
    with click.Context(doctor):
        names.warn_of_broken_kinds()
    assert capsys.readouterr().err == ""
    check = installation_checks.kinds(built_in.installed())
    assert check is not None
    assert (check.verdict, check.found) == ("problem", str(one_broken))


PARTS = "from phaseline.tables import CopiedEvent, Product, ProductCommand, WorkerService\n"


TOUCHY = "CARDS = Ban('acme.cards', 1, lambda body: b'4111' in body, lambda body: 'the body', str, 'has a card')\n"


def test_a_broken_product_is_left_out_and_secrets_are_refused_beside_it(site: Path) -> None:
    packages: Packages = {
        "bad_service": (PARTS + "P = Product('x', services=(WorkerService('cart', 's', 'a:b'),))\n", {"s": "bad_service:P"}),
        "bad_command": (PARTS + "P = Product('x', commands=(ProductCommand('c', 'a:b', ''),) * 2)\n", {"c": "bad_command:P"}),
        "bad_copy": (PARTS + "P = Product('x', copies=(CopiedEvent('resource', 'adopt'),))\n", {"e": "bad_copy:P"}),
        "bad_ban": ("from phaseline.tables import Ban, Product\n" + TOUCHY + "P = Product('x', bans=(CARDS, CARDS))\n",
                    {"b": "bad_ban:P"}),
    }  # fmt: skip
    install(site, "bad_absent", more=packages)
    kinds = load(built_in.PRODUCTS)
    assert set(kinds) == {table.kind for table in built_in.BUILT_IN}
    says = {one.entry_point: one.problem for one in kinds.broken}
    assert says.keys() == {"crate", "s", "c", "e", "b"}
    assert "a service or a copied event is about cart, which is no kind here" in says["s"]
    assert "two packages have one command: " in says["c"]
    assert "two events are copied to one place" in says["e"]
    assert "two bans have one name: acme.cards, acme.cards" in says["b"]
    answer = intake.read(kinds, Subjects("pl"), "pl.inbox.0.shop.resource.observed.x", RAW_SECRET, 1, 1)
    assert isinstance(answer, Rejection)
    assert (answer.reason, answer.payload) == ("secret", None)

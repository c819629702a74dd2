"""What installed packages bring: their products, of which broken ones are set apart, and the libraries of their rules.

Belongs here: loading the entry points of the group, which of them fit together, loading the libraries before events are
decided. Does not: the built-in products (`built_in`), what a command or a worker does about a broken one (`engine`),
which rule needs which library (`Product.libraries`), their names and extras (`schemas.libraries`).
"""

import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from phaseline.machines.compiler.fingerprint import declarations
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind, Product
from phaseline.machines.language.rules import Revision
from phaseline.machines.language.table import Table
from phaseline.schemas import libraries
from phaseline.schemas.libraries import ENTRY_POINTS, registered

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

VIEW_NAME = re.compile("[a-z][a-z0-9_]*")


class OfferedProduct(NamedTuple):
    """The product of one entry point."""

    entry: "EntryPoint"
    product: Product


def load(built_in: Sequence[Product], sound: str = "") -> Kinds:
    """The built-in kinds with all kinds of packages that can be used. `broken` has the entry points that cannot.

    The built-in tables were checked before they were released, so only packages are checked here. sound: the digest of
    the built-in tables then.
    """
    offered: list[OfferedProduct] = []
    broken: list[BrokenKind] = []
    for entry in registered(ENTRY_POINTS):
        try:
            offered.append(OfferedProduct(entry, _product(entry.name, entry.load())))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a module may raise anything when it is loaded
            broken.append(_broken(entry, f"{_said(error)}{_place(error)}"))
    try:
        kinds = _kinds(built_in, offered, sound)
    except Exception:  # noqa: BLE001  # which one is wrong is found below
        good = _fitting(built_in, offered)
        left = (one for one in offered if one not in good)
        broken += [_broken(one.entry, _problem(built_in, [*good, one]) or "it needs what is left out") for one in left]
        kinds = _kinds(built_in, good, sound)
    kinds.broken = tuple(broken)
    return kinds


def _product(name: str, found: object) -> Product:
    """What an entry point of that name offers."""
    if isinstance(found, Product):
        return found
    tables = tuple(found) if isinstance(found, tuple | list) else (found,)
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise ValueError("it must name a Product, a Table, or a tuple of tables")
    return Product(name, kinds=tables)


def _kinds(built_in: Sequence[Product], offered: Iterable[OfferedProduct], sound: str = "") -> Kinds:
    """All kinds of these products; raises if they do not work together."""
    of_packages = [one.product for one in offered]
    products = (*built_in, *of_packages)
    for what, names in (
        ("command", [one.name for product in products for one in product.commands]),
        ("name of reads", [one.name for product in products for one in product.views]),
    ):
        if twice := sorted({one for one in names if names.count(one) > 1}):
            raise ValueError(f"two packages have one {what}: {', '.join(twice)}")
    views = [one.name for product in products for one in product.views]
    if unfit := [one for one in views if not VIEW_NAME.fullmatch(one)]:
        raise ValueError(f"{unfit[0]!r} is no name of reads: write small letters, digits and underscores")
    tables = [table for product in products for table in product.kinds]
    kinds = {table.kind for table in tables}
    about = {one.kind for product in products for part in (product.services, product.copies) for one in part}
    if unknown := about - kinds:
        raise ValueError(f"a service or a copied event is about {', '.join(sorted(unknown))}, which is no kind here")
    checked = tuple(table for product in built_in for table in product.kinds)
    found = Kinds(tables, checked, sound, products)
    if of_packages:
        _ = found.bans  # raises what is wrong with them
    return found


def _fitting(built_in: Sequence[Product], offered: Sequence[OfferedProduct]) -> list[OfferedProduct]:
    """As many kinds as work together: all but one entry point or one package; or else what grows from the built-in."""
    packages: dict[str, list[OfferedProduct]] = {}
    for one in offered:
        packages.setdefault(_package(one.entry), []).append(one)
    units = [*([one] for one in offered), *packages.values()]
    without = ([one for one in offered if one not in unit] for unit in units)
    good = next((others for others in without if _problem(built_in, others) is None), None)
    if good is None:
        good, rest = _grown([], list(packages.values()), built_in)
        good, _ = _grown(good, [[one] for several in rest for one in several], built_in)
    return good


def _problem(built_in: Sequence[Product], offered: Iterable[OfferedProduct]) -> str | None:
    """Why these do not work together; None if they do."""
    try:
        _kinds(built_in, offered)
    except Exception as error:  # noqa: BLE001  # a table may be wrong in any way
        return _said(error)
    return None


def _grown(
    good: list[OfferedProduct], units: list[list[OfferedProduct]], built_in: Sequence[Product]
) -> tuple[list[OfferedProduct], list[list[OfferedProduct]]]:
    """What works together, grown by these units until none of the rest fits; and that rest."""
    left = units
    while True:
        for unit in left:
            if _problem(built_in, [*good, *unit]) is None:
                good, left = [*good, *unit], [other for other in left if other is not unit]
                break
        else:
            return good, left


def _package(entry: "EntryPoint") -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "of an unknown name"


def _broken(entry: "EntryPoint", problem: str) -> BrokenKind:
    return BrokenKind(_package(entry), entry.name, entry.value, problem)


def _said(error: BaseException) -> str:
    """What is wrong, in one line."""
    return " ".join(str(error).split()) or f"it raises {type(error).__name__}"


def _place(error: BaseException) -> str:
    """The line of the package that raised an error: ` (tables.py, line 3)`; empty if none did."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [one for one in frames if not one.filename.startswith("<") and one.filename != __file__
              and "importlib" not in Path(one.filename).parts]  # fmt: skip
    return f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""


def check_libraries(kinds: Kinds) -> None:
    """Load the libraries that the rules of these kinds need; raises `NotInstalled` if one is not installed here.

    A worker must not decide an event differently because a library is missing.
    """
    needed = {name: modules for product in kinds.products or () for name, modules in product.libraries.items()}
    for kind in kinds.values():
        for name in _rules_used(kind.table):
            for module in needed.get(name, ()):
                with libraries.needed(module, f"the kind {kind.name}"):
                    import_module(module)


def _rules_used(table: Table) -> Iterator[str]:
    """The names of the rules in a table and of the libraries that they declare."""
    for declared in declarations(table):
        yield declared.revision.name
        yield from (use.name for use in declared.uses if isinstance(use, Revision))

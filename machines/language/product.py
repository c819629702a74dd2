"""A product: what a package adds to Phaseline, as data.

Belongs here: `Product` and its parts, several bans as one (`Bans`), loading what a text names (`load`). Does not:
finding products (`compiler.packages`), the products that come with Phaseline (`built_in`), what is done
with a part.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from msgspec import field

from phaseline.machines.language.table import Table
from phaseline.schemas.value import Value

CODED = b"data_base64"
"""The attribute of an event whose data stands in base64, where a quick look sees nothing. A `PlainEvent` has none."""


class Ban(NamedTuple):
    """Content that no event may hold. An event with it is rejected with the reason `secret`, and erased.

    name: of a-z and dots, of which the first word is your own: `acme.cards`.
    revision: 1 or more. Raise it when other content is found than before.
    may: a quick look at a body; most bodies must pass, and none may that holds the content in the open.
    where: where a body holds the content, as text for people; None if nowhere. It looks inside base64, too.
    inside: the same for a decoded value.
    why: what to say of an event that holds it, after the place.
    unnamed: the revision up to which the tables' digest leaves it out, because it decided before digests named bans.
    """

    name: str
    revision: int
    may: Callable[[bytes], bool]
    where: Callable[[bytes], str | None]
    inside: Callable[[Any], str | None]
    why: str
    unnamed: int = 0


class WorkerService(NamedTuple):
    """Questions about entities of one kind, which the worker answers that owns the tree, out of its memory.

    They are asked on `<prefix>.status.<kind>.<id>`. Who may ask is the same for all services (docs/security.md).

    kind: whose entities are asked about.
    name: of the endpoint in the answers to `$SRV.INFO`.
    answer: names a function that takes a `ServiceQuery` and returns, once awaited, what JSON can hold.
    metadata: names a function that returns the endpoint's metadata: texts by name.
    narrower: how to ask for less, for those whose answer is too large for a message.
    """

    kind: str
    name: str
    answer: str
    metadata: str = ""
    narrower: str = ""


class ProductCommand(NamedTuple):
    """A command of `phaseline`, loaded when it is called.

    name: as people write it.
    command: names a command of click.
    help: one line for `phaseline --help`.
    """

    name: str
    command: str
    help: str


class ClientView(NamedTuple):
    """Reads of a product in the Python client: `client.NAME`, and `NAME` of the view of a moment.

    name: a Python name of small letters, digits and underscores. What clients have themselves goes before it.
    client: names a class that is made of the client.
    view: names a class that is made of the view (`client.at`); "" if the reads are not about a moment.

    The client without asyncio has the same reads: it runs each method to its end.
    """

    name: str
    client: str
    view: str = ""


class CopiedEvent(NamedTuple):
    """An event of which the server keeps the last one of each entity in the stream LIVE, whole.

    kind: of the entities.
    trigger: of the event.
    branch: what follows the prefix in subjects of LIVE; `live.<kind>` where left out.
    """

    kind: str
    trigger: str
    branch: str = ""

    @property
    def part(self) -> str:
        """The part of subjects that shows that a message is such an event."""
        return f".{self.kind}.{self.trigger}."


class LateTable(NamedTuple):
    """A table that was checked before, and that is loaded when somebody needs more of it than this.

    kind, id, parent: as in the table.
    at: names the table.
    """

    kind: str
    id: tuple[str, ...]
    parent: str | None
    at: str


class Product(Value, frozen=True):
    """What a package adds. Code that few processes need is named by text, `package.module:attribute`.

    name: for people.
    kinds: its tables. Those that were checked before may be named.
    bans: what no event may hold; each a `Ban`, or the name of one.
    libraries: by the name of a revision that rules declare, the modules that it imports.
    services: what workers answer.
    copies: the events whose last one the server keeps.
    commands: what `phaseline` does beside its own commands.
    routes: name tuples of `phaseline.http.Route`: what `phaseline serve` answers beside its own requests.
    views: what the Python client reads beside its own methods.
    """

    name: str
    kinds: tuple[Table | LateTable, ...] = ()
    bans: tuple[Ban | str, ...] = ()
    libraries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    services: tuple[WorkerService, ...] = ()
    copies: tuple[CopiedEvent, ...] = ()
    commands: tuple[ProductCommand, ...] = ()
    routes: tuple[str, ...] = ()
    views: tuple[ClientView, ...] = ()


class BrokenKind(NamedTuple):
    """An entry point whose kinds are left out. `package`: its name and version; `target`: what it names."""

    package: str
    entry_point: str
    target: str
    problem: str

    def __str__(self) -> str:
        return (
            f"the kind {self.entry_point} of the package {self.package} ({self.target}) cannot be used: {self.problem}"
        )


class NoProducts(TypeError):
    """Kinds that were made without `products` do not know what no event may hold, so they decide no event."""

    def __init__(self) -> None:
        """Say what to write."""
        super().__init__("these kinds decide no event, because they do not say what no event may hold: write"
                         " Kinds(tables, products=...), with the products whose bans hold")  # fmt: skip


class BannedContent(NamedTuple):
    """What an event may not hold: where it stands, and what to say of it."""

    where: str
    message: str


class Bans(Value, frozen=True):
    """All bans as one, composed once, because each event is asked about. may: as of one ban."""

    bans: tuple[Ban, ...]
    may: Callable[[bytes], bool]

    @classmethod
    def of(cls, bans: Iterable[Ban]) -> "Bans":
        """These bans as one; raises `ValueError` if two have one name."""
        found = tuple(bans)
        if len({ban.name for ban in found}) < len(found):
            raise ValueError(f"two bans have one name: {', '.join(sorted(ban.name for ban in found))}")
        if len(found) == 1:
            return cls(found, found[0].may)
        looks = tuple(ban.may for ban in found)
        return cls(found, lambda body: any(may(body) for may in looks))

    def where(self, body: bytes) -> BannedContent | None:
        """The first content that a body may not hold; None if there is none."""
        if not (self.may(body) or body.rfind(CODED) >= 0):
            return None
        return _first(self.bans, (ban.where(body) for ban in self.bans))

    def inside(self, value: Any) -> BannedContent | None:
        """The same for a decoded value."""
        return _first(self.bans, (ban.inside(value) for ban in self.bans))

    @property
    def named(self) -> dict[str, str]:
        """The bans in the tables' digest, by name. Those that decided before digests named bans are left out."""
        if self.bans and all(ban.revision <= ban.unnamed for ban in self.bans):
            return {}
        return {f"ban:{ban.name}": str(ban.revision) for ban in self.bans} or {"ban:": "none"}


def copies_of(products: Iterable[Product]) -> dict[str, CopiedEvent]:
    """By kind, the events whose last one the server keeps. Raises `ValueError` if two have one place."""
    copied = [one for product in products for one in product.copies]
    found = {one.kind: one._replace(branch=one.branch or f"live.{one.kind}") for one in copied}
    if len({one.branch for one in found.values()}) < len(copied):
        raise ValueError("two events are copied to one place: a kind has one, and each kind its own branch")
    return found


def _first(bans: Iterable[Ban], places: Iterable[str | None]) -> BannedContent | None:
    for ban, where in zip(bans, places, strict=True):
        if where is not None:
            return BannedContent(where, f"{where} {ban.why}")
    return None


def load(name: str) -> Any:
    """What `package.module:attribute` names. Raises whatever the module raises."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)

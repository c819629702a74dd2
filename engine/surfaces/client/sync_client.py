"""The client without asyncio: connecting, and the classes that mirror those of the client with asyncio.

Belongs here: how a method is turned into one that waits, for the reads of products too (`mirror_of`). Does not: what
runs the calls (`portal`), the types, which `surfaces.sync_stub` writes into the stub of `phaseline.sync`.
A method that gives an answer runs it to its end, an asynchronous iterator becomes an iterator, a watch becomes a watch.
Signatures and docstrings are those of the method that is mirrored, so both clients always take and give the same.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import cache, wraps
from inspect import Signature, getmembers_static, iscoroutine, signature
from types import FunctionType
from typing import Any, Generic, Self, TypeVar, Unpack, get_args, get_origin

from phaseline.engine.log import watch as log_watch
from phaseline.engine.settings import DEFAULT_URL, ConnectionSettings, Settings
from phaseline.engine.surfaces.client import client, connecting, entity_view, numbered_source
from phaseline.engine.surfaces.client.entity_view import M_co
from phaseline.engine.surfaces.client.portal import DwellWatch, Follow, OpenClient, Portal, Watch
from phaseline.engine.surfaces.follow import follow
from phaseline.engine.surfaces.overview import dwell_watch
from phaseline.machines.compiler.kinds import Kinds

C = TypeVar("C", bound=type)
MIRRORS: dict[Any, Any] = {
    AsyncIterator: Iterator, log_watch.Watch: Watch, dwell_watch.DwellWatch: DwellWatch, follow.Follow: Follow,
}  # fmt: skip
"""By class of the client with asyncio, the one of this client."""


def mirrors(source: type) -> Callable[[C], C]:
    """Make a class the mirror of `source`, as which it comes out of calls too."""

    def fill(mirror: C) -> C:
        MIRRORS[source] = mirror
        return _filled(mirror, source)

    return fill


@cache
def mirror_of(source: type) -> Any:
    """The class without asyncio for a class of reads of a product, of whatever package."""
    return _filled(type(source.__name__, (_Mirror,), {"__module__": __name__}), source)


def _filled(mirror: C, source: type) -> C:
    """Give a class the public methods and properties of `source` that it has not, and its docstring."""
    mirror.__doc__ = mirror.__doc__ or source.__doc__
    for name, member in getmembers_static(source):
        if not name.startswith("_") and name not in vars(mirror) and isinstance(member, FunctionType | property):
            turned = _turned(mirror, name, member)
            setattr(mirror, name, property(turned) if isinstance(member, property) else turned)
    return mirror


def _turned(mirror: type, name: str, member: FunctionType | property) -> Any:
    """A method that waits for what the method or the property of the other client gives."""
    is_property = isinstance(member, property)
    function: Any = member.fget if isinstance(member, property) else member

    @wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        found = getattr(self._source, name)
        return _waited(self._portal, found if is_property else found(*arguments, **named))

    del call.__wrapped__
    call.__module__, call.__qualname__ = mirror.__module__, f"{mirror.__name__}.{name}"
    shown = _signature(function)
    returns = Signature.empty if shown.return_annotation is Signature.empty else _mirrored(shown.return_annotation)
    call.__signature__ = shown.replace(return_annotation=returns)  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "return": returns}
    return call


def _signature(function: Any) -> Signature:
    """The signature, with the types themselves where the module has them as text."""
    try:
        return signature(function, eval_str=True)
    except Exception:  # noqa: BLE001  # what is imported for type checkers only has no value
        return signature(function)


def _mirrored(annotation: Any) -> Any:
    """A type as this client has it."""
    kind = get_origin(annotation) or annotation
    try:
        found = MIRRORS.get(kind)
    except TypeError:  # it has no hash
        found = None
    return annotation if found is None else found[get_args(annotation)] if get_args(annotation) else found


def _waited(portal: Portal, value: Any) -> Any:
    """What a call of the client with asyncio gives, read to its end or in turn."""
    if iscoroutine(value):
        value = portal.run(value)
    mirror = MIRRORS.get(type(value))
    if mirror is not None:
        return mirror(portal, value)
    return portal.iterate(value) if isinstance(value, AsyncIterator) else value


class _Mirror:
    """Runs the reads of `source` in the portal."""

    def __init__(self, portal: Portal, source: Any) -> None:
        self._portal, self._source = portal, source

    def __getattr__(self, name: str) -> Any:
        """What the object has and its class does not tell."""
        found = _of_source(self, name)
        if not callable(found) or isinstance(found, type):
            return _waited(self._portal, found)

        @wraps(found)
        def call(*arguments: Any, **named: Any) -> Any:
            return _waited(self._portal, found(*arguments, **named))

        return call

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_names(self)]


def _of_source(mirror: Any, name: str) -> Any:
    """A public attribute of what is mirrored. Others are never asked for: the object may not be complete yet."""
    if name.startswith("_"):
        raise AttributeError(f"{type(mirror).__name__!r} object has no attribute {name!r}", name=name, obj=mirror)
    return getattr(mirror._source, name)  # noqa: SLF001  # of the classes below


def _names(mirror: Any) -> list[str]:
    return [name for name in dir(mirror._source) if not name.startswith("_")]  # noqa: SLF001  # as above


def _reads(mirror: Any, name: str) -> Any:
    """The reads of a product, which the other client finds by name."""
    reads = _of_source(mirror, name)
    return mirror_of(reads.__class__)(mirror._portal, reads)  # noqa: SLF001  # as above


@mirrors(entity_view.EntityView)
class EntityView(_Mirror, Generic[M_co]):  # noqa: D101  # it has the docstring of the class that it mirrors
    def __getattr__(self, name: str) -> Any:
        """The reads of a product."""
        return _reads(self, name)


@mirrors(numbered_source.NumberedSource)
class NumberedSource(_Mirror):  # noqa: D101  # it has the docstring of the class that it mirrors
    pass


@mirrors(client.Client)
class Client:
    """One connection to one installation, for programs without asyncio: `phaseline.Client` with plain methods.

    A call returns when its answer is there. `list`, `watch`, `follow`, `history` and `rejections` give iterators. Use
    the client in a `with` block, or call `close`. It runs asyncio in a thread of its own, so it also works in a
    notebook; `progress` functions are called from that thread. Ctrl-C ends a call in good order.
    """

    def __init__(self, opened: OpenClient[client.Client]) -> None:
        """Use a connection that is open; `connect` makes one."""
        self._opened, self._portal, self._source = opened, opened.portal, opened.client

    @classmethod
    def open(cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None) -> Self:
        """Connect by complete settings, as `connect` does."""
        return cls(OpenClient(client.Client.open(settings, source=source, kinds=kinds)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """The reads of a product."""
        return _reads(self, name)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_names(self)]

    def close(self) -> None:
        """Disconnect. A second call does nothing."""
        self._opened.close()


def connect(
    url: str | Sequence[str] = DEFAULT_URL,
    *,
    source: str | None = None,
    kinds: Kinds | None = None,
    context: str | None = None,
    **settings: Unpack[ConnectionSettings],
) -> Client:
    """Connect to an installation: `with phaseline.sync.connect(...) as client`.

    url: one server or several of one cluster. source: where the client's events come from. kinds: the tables to check
    against; by default those installed here. context: the name of a context of the `nats` command that describes the
    connection, or `@selected`. Raises `BadSetting`, `NatsUnreachable`, `SetupError`.
    """
    return Client(OpenClient(connecting.connect(url, source=source, kinds=kinds, context=context, **settings)))

"""The client without asyncio: connecting, and the classes that mirror those of the client with asyncio.

Belongs here: how a method is turned into one that waits. Does not: what runs the calls (`portal`), the types, which
`sync_stub` writes into a stub beside this module.
A method that gives an answer runs it to its end, an asynchronous iterator becomes an iterator, a watch becomes a watch.
Signatures and docstrings are those of the method that is mirrored, so both clients always take and give the same.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from functools import wraps
from inspect import Signature, iscoroutine, signature
from types import FunctionType
from typing import Any, Generic, Self, TypeVar, Unpack, get_args, get_origin

from phaseline.engine.client import client, connecting, entity_view, products
from phaseline.engine.client.entity_view import M_co
from phaseline.engine.client.portal import Opened, Portal, Watch
from phaseline.engine.log import watch as log_watch
from phaseline.engine.settings import DEFAULT_URL, ConnectionSettings, Settings
from phaseline.machines.compiler.kinds import Kinds

C = TypeVar("C", bound=type)
MIRRORS: dict[Any, Any] = {AsyncIterator: Iterator, log_watch.Watch: Watch}
"""By class of the client with asyncio, the one of this client."""


def mirrors(source: type) -> Callable[[C], C]:
    """Give a class the public methods and properties of `source` that it has not, and its docstring."""

    def fill(mirror: C) -> C:
        MIRRORS[source], mirror.__doc__ = mirror, mirror.__doc__ or source.__doc__
        for name, member in vars(source).items():
            if not name.startswith("_") and name not in vars(mirror) and isinstance(member, FunctionType | property):
                is_property = isinstance(member, property)
                turned = _turned(mirror, member.fget if is_property else member, is_property=is_property)
                setattr(mirror, name, property(turned) if is_property else turned)
        return mirror

    return fill


def _turned(mirror: type, function: Any, *, is_property: bool) -> Any:
    """A method that waits for what the method of the other client gives."""
    name, shown = function.__name__, signature(function)

    @wraps(function)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        found = getattr(self._source, name)
        return _waited(self._portal, found if is_property else found(*arguments, **named))

    del call.__wrapped__
    call.__module__, call.__qualname__ = mirror.__module__, f"{mirror.__name__}.{name}"
    returns = Signature.empty if shown.return_annotation is Signature.empty else _mirrored(shown.return_annotation)
    call.__signature__ = shown.replace(return_annotation=returns)  # type: ignore[attr-defined]
    call.__annotations__ = {**function.__annotations__, "return": returns}
    return call


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
    if isinstance(value, AsyncGenerator):
        return portal.iterate(value)
    mirror = MIRRORS.get(type(value))
    return value if mirror is None else mirror(portal, value)


class _View:
    """Runs the reads of `source` in the portal."""

    def __init__(self, portal: Portal, source: Any) -> None:
        self._portal, self._source = portal, source


@mirrors(products.EmcoView)
class EmcoView(_View): ...


@mirrors(products.Emco)
class Emco(_View): ...


@mirrors(products.FleetView)
class FleetView(_View): ...


@mirrors(products.Fleet)
class Fleet(_View): ...


@mirrors(products.Gitops)
class Gitops(_View): ...


@mirrors(entity_view.EntityView)
class EntityView(_View, Generic[M_co]): ...


@mirrors(client.Client)
class Client:
    """One connection to one installation, for programs without asyncio: `phaseline.Client` with plain methods.

    A call returns when its answer is there. `list`, `watch`, `history` and `rejections` give iterators. Use the client
    in a `with` block, or call `close`. It runs asyncio in a thread of its own, so it also works in a notebook;
    `progress` functions are called from that thread. Ctrl-C ends a call in good order.
    """

    def __init__(self, opened: Opened[client.Client]) -> None:
        """Use a connection that is open; `connect` makes one."""
        self._opened, self._portal, self._source = opened, opened.portal, opened.client

    @classmethod
    def open(cls, settings: Settings, *, source: str | None = None, kinds: Kinds | None = None) -> Self:
        """Connect by complete settings, as `connect` does."""
        return cls(Opened(client.Client.open(settings, source=source, kinds=kinds)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
    connection, or `@selected`. Raises `BadSetting`, `NatsUnreachable`, `UserRefused`, `TlsFailed`.
    """
    return Client(Opened(connecting.connect(url, source=source, kinds=kinds, context=context, **settings)))

"""A status question: its parameters as they come in, checked (docs/spec/emco.md, The status query).

Belongs here: which parameters there are and what they may hold. Does not: whether an app or a cluster of that name exists
(`selection`), which only the tree can tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Required, TypedDict

SHAPES = ("source", "emco")
OUTPUTS = ("summary", "all", "detail", "rsync")
TYPES = ("rsync", "cluster")
STATUSES = ("deployed", "ready")
LISTS = ("apps", "clusters", "resources")
"""Flags of the shape `emco`: only the names, and the first of these counts."""
CHOICES = {"shape": SHAPES, "output": OUTPUTS, "status": STATUSES}
FILTERS = ("app", "cluster", "resource")
TRUE, FALSE = (True, "true", "1", ""), (False, None, "false", "0")


Side = Literal["rsync", "cluster"]
Names = str | Sequence[str] | None
"""A name, or several: any of them will do. None, like an empty list, takes all."""


class SourceStatusQuery(TypedDict, total=False):
    """The parameters of a status in the form of EMCO's design notes, which is the default form."""

    shape: Literal["source"]
    output: Literal["summary", "all", "detail", "rsync"]
    type: Side | Sequence[Side] | None
    app: Names
    cluster: Names
    resource: Names
    instance: str | None


class EmcoStatusQuery(TypedDict, total=False):
    """The parameters of a status in the form of later EMCO."""

    shape: Required[Literal["emco"]]
    output: Literal["summary", "all", "detail"]
    type: Side | Sequence[Side] | None
    status: Literal["deployed", "ready"] | None
    app: Names
    cluster: Names
    resource: Names
    instance: str | None


class EmcoNamesQuery(EmcoStatusQuery, total=False):
    """The parameters of a question for names only, in the form of later EMCO; one of the three flags is true."""

    apps: bool
    clusters: bool
    resources: bool


class StatusQuery(TypedDict, total=False):
    """All parameters that a status has in either form."""

    shape: Literal["source", "emco"]
    output: Literal["summary", "all", "detail", "rsync"]
    type: Side | Sequence[Side] | None
    status: Literal["deployed", "ready"] | None
    app: Names
    cluster: Names
    resource: Names
    instance: str | None
    apps: bool
    clusters: bool
    resources: bool


class BadQuery(ValueError):
    """A question that cannot be answered: says which parameter is wrong, and what it may be."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question that makes sense by itself. `instance`: the name of a context; None for the one that is current.

    type: whose status counts, both where empty. app, cluster, resource: names, any of which will do; all where empty.
    """

    shape: str = "source"
    output: str = "all"
    type: tuple[str, ...] = ()
    status: str | None = None
    app: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    resource: tuple[str, ...] = ()
    instance: str | None = None
    apps: bool = False
    clusters: bool = False
    resources: bool = False

    @property
    def lists(self) -> str | None:
        """Which names are asked for instead of a status, if any."""
        return next((name for name in LISTS if getattr(self, name)), None)


NAMES = tuple(field.name for field in fields(Query))


def read(parameters: Mapping[str, Any]) -> Query:
    """The question in `parameters`, each a word, a list of words or a flag; raises `BadQuery`."""
    for name in parameters:
        if name not in NAMES:
            raise BadQuery(f"unknown parameter {name!r}: there are {', '.join(NAMES)}")
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in LISTS:
            found[name] = _flag(name, value)
        elif name in FILTERS or name == "type":
            found[name] = _words(name, value)
        elif value is not None:
            found[name] = _word(name, value)
    query = Query(**found)
    _check_together(query)
    return query


def _flag(name: str, value: object) -> bool:
    if value in TRUE or value in FALSE:
        return value in TRUE
    raise BadQuery(f"{name} must be true or false, found {value!r}")


def _words(name: str, value: object) -> tuple[str, ...]:
    given = () if value is None else (value,) if isinstance(value, str) else value
    if not isinstance(given, Sequence):
        raise BadQuery(f"{name} must be a word or a list of words, found {value!r}")
    words = tuple(_word(name, word) for word in given)
    for word in words if name == "type" else ():
        if word not in TYPES:
            raise BadQuery(f"type must be {' or '.join(TYPES)}, found {word!r}")
    return tuple(dict.fromkeys(words))


def _word(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise BadQuery(f"{name} must be a word, found {value!r}")
    if name in CHOICES and value not in CHOICES[name]:
        raise BadQuery(f"{name} must be one of {', '.join(CHOICES[name])}, found {value!r}")
    return value


def _check_together(query: Query) -> None:
    if query.shape == "source":
        for name in ("status", *LISTS):
            if getattr(query, name):
                raise BadQuery(f"{name} goes with shape=emco only; with shape=source there are {_source()}")
        if query.output == "rsync" and query.type == ("cluster",):
            raise BadQuery("output=rsync shows rsync resources only, so type=cluster leaves nothing: drop one of them")
    elif query.output == "rsync":
        raise BadQuery("output=rsync goes with shape=source only; with shape=emco it is one of summary, all, detail")
    elif len(query.type) > 1:
        raise BadQuery("type may be given once with shape=emco: rsync or cluster")


def _source() -> str:
    return ", ".join(name for name in NAMES if name not in ("status", *LISTS))

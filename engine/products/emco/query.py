"""The parameters of a status query, and their checks (docs/spec/emco.md, The status query).

Belongs here: which parameters exist and which values they take. Does not: whether an app or a cluster of that name
exists (`select`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

import msgspec

from phaseline.schemas.errors import InvalidInput

SHAPES = ("source", "emco")
OUTPUTS = ("summary", "all", "detail", "rsync")
TYPES = ("rsync", "cluster")
STATUSES = ("deployed", "ready")
LISTS = ("apps", "clusters", "resources")
"""Flags of the shape `emco` that ask for names only. If several are set, the first counts."""
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


class Query(msgspec.Struct, frozen=True):
    """A checked query. `instance`: the name of an app context; None for the current one.

    type: whose status is wanted, `rsync` or `cluster`; both if empty. app, cluster, resource: only those of these
    names; all if empty.
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
        """The names that the query asks for instead of a status; None if it asks for a status."""
        return next((name for name in LISTS if getattr(self, name)), None)


NAMES = Query.__struct_fields__


def read(parameters: Mapping[str, Any]) -> Query:
    """The query in `parameters`: each is a string, a list of strings or a flag. Raises `InvalidInput`."""
    for name in parameters:
        if name not in NAMES:
            raise InvalidInput.bad_status_query(
                problem=f"unknown parameter {name!r}: it must be one of {', '.join(NAMES)}"
            )
    checked: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in LISTS:
            checked[name] = _flag(name, value)
        elif name in FILTERS or name == "type":
            checked[name] = _strings(name, value)
        elif value is not None:
            checked[name] = _string(name, value)
    query = Query(**checked)
    _check_together(query)
    return query


def _flag(name: str, value: object) -> bool:
    if value in TRUE or value in FALSE:
        return value in TRUE
    raise InvalidInput.bad_status_query(problem=f"{name} must be true or false, found {value!r}")


def _strings(name: str, value: object) -> tuple[str, ...]:
    given = () if value is None else (value,) if isinstance(value, str) else value
    if not isinstance(given, Sequence):
        raise InvalidInput.bad_status_query(problem=f"{name} must be a string or a list of strings, found {value!r}")
    strings = tuple(_string(name, each) for each in given)
    for each in strings if name == "type" else ():
        if each not in TYPES:
            raise InvalidInput.bad_status_query(problem=f"type must be {' or '.join(TYPES)}, found {each!r}")
    return tuple(dict.fromkeys(strings))


def _string(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidInput.bad_status_query(problem=f"{name} must be a string that is not empty, found {value!r}")
    if name in CHOICES and value not in CHOICES[name]:
        raise InvalidInput.bad_status_query(
            problem=f"{name} must be one of {', '.join(CHOICES[name])}, found {value!r}"
        )
    return value


def _check_together(query: Query) -> None:
    if query.shape == "source":
        for name in ("status", *LISTS):
            if getattr(query, name):
                raise InvalidInput.bad_status_query(
                    problem=f"{name} needs shape=emco; shape=source takes {_source_parameters()}"
                )
        if query.output == "rsync" and query.type == ("cluster",):
            raise InvalidInput.bad_status_query(
                problem="output=rsync shows only rsync resources, and type=cluster leaves them out: omit one of them"
            )
    elif query.output == "rsync":
        raise InvalidInput.bad_status_query(
            problem="output=rsync needs shape=source; with shape=emco, output must be summary, all or detail"
        )
    elif len(query.type) > 1:
        raise InvalidInput.bad_status_query(problem="with shape=emco, type must be a single value: rsync or cluster")


def _source_parameters() -> str:
    return ", ".join(name for name in NAMES if name not in ("status", *LISTS))

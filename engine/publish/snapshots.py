"""Cuts a snapshot into events of at most a megabyte, and reads its items from a file.

A part speaks of a range of ids, so the parts need no common memory: what they say together is what one event would say.
Belongs here: the parts and their ranges, the formats of items. Does not: sending the parts (`surfaces.client`), judging
items (`engine.core.snapshot`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.publish.event_file import BOM, EventFile
from phaseline.schemas import codec
from phaseline.schemas.errors import EventRefused, InvalidInput

Item = Mapping[str, Any]
PART = 700_000
"""The most bytes of the items of one event. A NATS server takes 1 MB, and the rest of the event needs room."""


def parts(items: Iterable[Item], most: int | None = None) -> list[dict[str, Any]]:
    """The `items`, `after` and `upto` of each event, in the order of ids. Raises `EventRefused` for an item without id.

    most: the most bytes of the items of one event; None: `PART`.
    The first part has no lower bound, the last one no upper bound; in between each begins where the one before ends.
    """
    most = PART if most is None else most
    groups: list[list[Item]] = [[]]
    size = 0
    for item in sorted(items, key=_id_of):
        length = len(codec.encode(dict(item)))
        if groups[-1] and size + length > most and item["id"] != groups[-1][-1]["id"]:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += length
    ends = [group[-1]["id"] for group in groups[:-1]]
    return [
        {"items": group, **_bounds(after, upto)}
        for group, after, upto in zip(groups, [None, *ends], [*ends, None], strict=True)
    ]


def _id_of(item: Item) -> str:
    found = item.get("id") if isinstance(item, Mapping) else None
    if not isinstance(found, str):
        raise EventRefused(reason="invalid", message=f"an item must be a map with an id, found {str(item)[:64]!r}")
    return found


def _bounds(after: str | None, upto: str | None) -> dict[str, str]:
    return {name: bound for name, bound in (("after", after), ("upto", upto)) if bound is not None}


def events(
    kind: str,
    items: Iterable[Item],
    seen: int | None = None,
    after: str | None = None,
    upto: str | None = None,
    *,
    confirm: bool = False,
    about: Sequence[str] | None = None,
    log: int | None = None,
    most: int | None = None,
) -> list[dict[str, Any]]:
    """The data of the events of a snapshot of `kind`. Raises `EventRefused`. most: as in `parts`."""
    counts = {name: one for name, one in (("seen", seen), ("log", log)) if one is not None}
    whole = {"kind": kind, **counts, **_bounds(after, upto)}
    if confirm:
        whole["confirm"] = True
    if about is not None:
        whole["about"] = [*about]
    return [{**whole, **part} for part in parts(items, most)]


def details_of(details: EventDetails, index: int, count: int) -> EventDetails:
    """The details of one of `count` events: each has its own `event_id` and its own `sequence`, one above the other."""
    found = EventDetails(**details)
    if count > 1 and "event_id" in found:
        found["event_id"] = f"{found['event_id']}-{index + 1}"
    if "sequence" in found:
        found["sequence"] += index
    return found


def read_items(text: bytes, name: str) -> Sequence[Item]:
    """The items in a text: a list in JSON or YAML, a map with `items`, JSON lines, or a msgpack stream.

    Raises `InvalidInput`. A text that holds nothing is refused: an empty list says that everything is gone.
    """
    text = text.removeprefix(BOM)
    start = text.lstrip()[:1]
    if not start:
        problem = "it is empty: write [] to say that nothing is there"
        raise InvalidInput.bad_event_file(name=name, place="beginning", problem=problem)
    found = list(_values(text, start, name))
    if len(found) == 1 and isinstance(found[0], Mapping) and isinstance(found[0].get("items"), list):
        return list(found[0]["items"])
    return found


def _values(text: bytes, start: bytes, name: str) -> Iterator[Any]:
    if start == b"[":
        yield from _json(b'{"items":' + text + b"}", name)["items"]
    elif start == b"{" and (whole := _whole(text)) is not None:
        yield whole
    elif start == b"{" or start[0] >= 0x80:
        lines = EventFile(name)
        yield from (one.body for one in (*lines.feed(text), *lines.end()))
    else:
        yield from _yaml(text, name)


def _whole(text: bytes) -> dict[str, Any] | None:
    """The one map that a JSON text holds; None if it holds several, one a line."""
    try:
        return codec.decode(text)
    except codec.Undecodable:
        return None


def _json(text: bytes, name: str) -> dict[str, Any]:
    try:
        return codec.decode(text)
    except codec.Undecodable as error:
        raise InvalidInput.bad_event_file(name=name, place="beginning", problem=str(error)) from error


def _yaml(text: bytes, name: str) -> Iterator[Any]:
    from phaseline.schemas import yaml_text  # noqa: PLC0415  # it needs a library for YAML, an extra

    try:
        for found in yaml_text.documents(text):
            yield from found if isinstance(found, list) else [found]
    except yaml_text.NotYaml as error:
        raise InvalidInput.bad_event_file(name=name, place="beginning", problem=str(error)) from error


def read_file(file: Path) -> Sequence[Item]:
    """The items in a file. Raises `InvalidInput.bad_event_file`."""
    try:
        return read_items(file.read_bytes(), str(file))
    except OSError as error:
        raise InvalidInput.bad_event_file(name=file, place="beginning", problem=error.strerror or str(error)) from error

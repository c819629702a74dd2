"""The body of a transition, from a template: what is the same in many records is encoded once.

A template is the body of a record as `wire_codec` writes it, cut at the values that differ from event to event. So both
ways make the same bytes; a property test compares them.
Belongs here: `TransitionWriter`, shared by partitions. Does not: which field stands where (`wire_codec`), marks.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import NOTHING, Transition, timestamp, written_facets
from phaseline.schemas.wire_types import RecordMap, TransitionData

MOST = 2_048
"""The most templates that are kept, of 1 to 2 kB each. A fleet in which all goes well needs some dozens."""
HEADER = 3
"""The bytes with which msgpack begins a list of 16 or more values."""

Key = tuple[object, ...]
"""All that a body depends on beside the values that are filled in."""


_shown, _since = attrgetter("base", "state", "interrupted"), attrgetter("since_ns")
"""What a template depends on of a facet, and what is filled in."""


class TransitionWriter:
    """Writes the transitions of one installation."""

    def __init__(self, installation: str, versions: Mapping[str, str]) -> None:
        """installation: the source of the records. versions: by kind, the version of its table."""
        self._installation, self._versions = installation, versions
        self._templates: dict[Key, list[Any]] = {}

    def body(self, record: Transition, index: int, records: int, *, as_json: bool = False) -> bytes:
        """The same bytes as those of `wire_codec.write`. index, records, as_json: as there."""
        entity, of = record.entity, record.cause
        facets, sequences, timers, asked = written_facets(entity), entity.sequences, entity.timers_ns, entity.asked
        born, memory, is_plain = entity.born, entity.memory, record.noted is NOTHING
        key = (
            as_json, entity.kind, entity.names, record.facet, record.before, record.after, record.trigger,
            record.unasked, of.by, not sequences, not timers, not asked, not born, memory is None, *map(_shown, facets),
        )  # fmt: skip
        template = self._templates.get(key)
        if template is None or of.extensions or of.actor or not is_plain:
            return self._write(key, record, index, records, as_json=as_json)
        if as_json and not codec.json_holds(entity.attributes):
            return self.body(record, index, records)
        values: list[Any] = [
            f"{of.sequence}-{index}", f"{entity.kind}/{entity.id}", timestamp(record.time_ns), entity.id,
            entity.version, record.reason, record.message, of.sequence, of.event, of.source, of.origin, of.time_text,
            records, *map(timestamp, map(_since, facets)), entity.attributes,
        ]  # fmt: skip
        if sequences:
            values.append(sequences)
        if timers:
            values.append(wire_codec.timers_to_wire(timers))
        if asked:
            values.append(asked)
        if born:
            values.append(born)
        if memory is not None:
            values.append(memory)
        parts = template.copy()
        if not as_json:
            parts[1::2] = values
            return codec.encode_parts(parts)[HEADER:]
        parts[1::2] = codec.encode_each_as_json(values)
        body = b"".join(parts)
        return body if len(body) <= wire_codec.LARGEST_JSON else self.body(record, index, records)

    def _write(self, key: Key, record: Transition, index: int, records: int, *, as_json: bool) -> bytes:
        """The body of a record that finds no template. It becomes that of the next ones, if its cause is plain."""
        tables = self._versions.get(record.entity.kind, "")
        wire: Any = wire_codec.to_wire(record, index, records, self._installation, tables)
        if not (record.cause.extensions or record.cause.actor or record.noted is not NOTHING):
            if len(self._templates) >= MOST:
                self._templates.clear()
            self._templates[key] = [*_cut(wire, as_json=as_json)]
        return next(wire_codec.bodies([record], [wire], as_json=as_json))


@lru_cache(maxsize=4)
def shared_writer(installation: str, versions: tuple[tuple[str, str], ...]) -> TransitionWriter:
    """The writer that all partitions share, so that each template is made once. versions: pairs, as for the class."""
    return TransitionWriter(installation, dict(versions))


def _cut(wire: RecordMap[TransitionData], *, as_json: bool) -> Iterator[Any]:
    """The parts of a body that are the same in others, with room between them for the values that are not."""
    encode: Callable[[Any], bytes] = codec.encode_json if as_json else codec.encode_struct
    holes: list[str] = []

    def hole() -> str:
        holes.append(f"\0hole {len(holes)}\0")
        return holes[-1]

    data, cause, entity = wire.data, wire.data.cause, wire.data.entity
    wire = replace(wire, id=hole(), subject=hole(), time=hole())
    data = replace(data, id=hole(), version=hole(), reason=hole(), message=hole())
    cause = replace(cause, sequence=hole(), event=hole(), source=hole(), origin=hole(), time=hole(), records=hole())
    facets = {name: replace(facet, since=hole()) for name, facet in entity.facets.items()}
    entity = replace(entity, facets=facets, attributes=hole())
    filled = [name for name in ("sequences", "timers", "asked", "born", "memory") if getattr(entity, name)]
    entity = replace(entity, **{name: hole() for name in filled})
    rest = encode(replace(wire, data=replace(data, cause=cause, entity=entity)))
    for each in holes:
        part, _, rest = rest.partition(codec.encode_json(each) if as_json else codec.encode(each))
        yield from (part if as_json else Raw(part), None)
    yield rest if as_json else Raw(rest)

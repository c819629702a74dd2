"""What is one notice: the name of the group of what began.

Belongs here: a group's name, by what the rule says. Does not: what becomes of a group (`groups`, `fold`).
"""

from hashlib import blake2b

from phaseline.engine.products.notices.fold.rules import Rule
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import parent_of
from phaseline.schemas.records import SECOND, Rejection, Transition, timestamp
from phaseline.schemas.subjects import quote

LONGEST = 200
"""The most characters of the name of a group, as it is written in subjects. A longer one ends in a digest."""
ALIKE = 300 * SECOND
"""Within which time the same reason makes one notice, ns."""


def group_of(kinds: Kinds, rule: Rule, record: Transition | Rejection, time_ns: int) -> str:
    """The name of the group of what began with a record at a time."""
    kind, entity_id = entity_of(record)
    if rule.digest:
        return f"d-{timestamp(time_ns - time_ns % rule.digest)[:19].replace(':', '').replace('-', '')}"
    if rule.group == "tree":
        return short(entity_id.partition("/")[0])
    if rule.group == "entity":
        return named(kind, entity_id)
    if rule.group == "parent":
        return named(*(parent_of(kinds, kind, entity_id) or (kind, entity_id)))
    if rule.group == "reason":
        return short(f"{kind}:{record.reason or 'none'}")
    return str(record.cause.sequence)


def is_across(rule: Rule) -> bool:
    """Whether a notice of a rule may be about several trees."""
    return rule.group == "reason" or rule.digest > 0


def entity_of(record: Transition | Rejection) -> tuple[str, str]:
    """The kind and the id of the entity that a record is about."""
    return (record.kind, record.id) if isinstance(record, Rejection) else (record.entity.kind, record.entity.id)


def named(kind: str, entity_id: str) -> str:
    """The name of a group about one entity."""
    text = f"{kind}:{entity_id.replace('/', ':')}"
    return short(text if ":" not in entity_id else f"{text}~{entity_id}", always=":" in entity_id)


def short(text: str, *, always: bool = False) -> str:
    """A text as a part of an id: a long one ends in a digest. always: whether it needs one in any case."""
    if not always and len(quote(text)) <= LONGEST:
        return text
    digest = blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    kept = text[:40]
    while len(quote(kept)) > LONGEST - 20:
        kept = kept[:-1]
    return f"{kept}~{digest}"

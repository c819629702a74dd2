"""What a notifier stores: an event of a notice, and one for each delivery that has something to say.

Belongs here: from `NoticeEvent` to events of the kinds `notice` and `delivery`. Does not: storing them (`notifier`).
"""

from collections.abc import Callable, Iterator
from typing import Any

from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.telling import sentence
from phaseline.engine.products.notices.names import SOURCE
from phaseline.schemas.envelope import Event

ChangesFor = Callable[[str], bool]
"""Whether a receiver is told changes too."""


def events_of(one: NoticeEvent, identity: int, tells_changes: ChangesFor = lambda _: False) -> Iterator[Event]:
    """The events that store what a notice has become. identity: of the log that it is about."""
    data = {**one.data, "log_identity": identity, "sequence": one.sequence, "due": one.time}
    if message := sentence(data):
        data["message"] = message
    yield event("notice", one.trigger, one.id, data, identity, one.sequence, one.time)
    opened = data.get("opened")
    for receiver in one.to:
        word = one.word or ("change" if one.trigger == "changed" and tells_changes(receiver) else "")
        if word:
            said = {"word": word, "opened": opened} if opened else {"word": word}
            yield event("delivery", "queued", f"{one.id}/{receiver}", said, identity, one.sequence, one.time)


def event(
    kind: str, trigger: str, entity_id: str, data: dict[str, Any], epoch: int, sequence: int, time: str
) -> Event:  # fmt: skip
    """An event of the notifier. Who sends it again says the same, and it counts once."""
    return Event(
        id=f"{epoch}-{sequence}-{trigger}", source=SOURCE, type=f"{kind}.{trigger}", specversion="1.0",
        subject=f"{kind}/{entity_id}", time=time, sequence=sequence, epoch=epoch, data=data,
    )  # fmt: skip

"""The installation of notices about another one, and what a notifier stores there.

Belongs here: its settings; from `NoticeEvent` to events of the kinds `notice` and `delivery`, with their source and
ids. Does not: the kinds (`kinds.notices`), storing events (`notifier`), connections.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.telling import sentence
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import OF_NOTICES
from phaseline.schemas.envelope import Event
from phaseline.schemas.errors import InvalidInput

SOURCE = "/phaseline/notifier"
"""The source of all notifiers of an installation: what two of them say of one place counts once."""
OWN = "_notices"
"""In place of a rule: of notices about notifier and receivers. No rule can have this name."""


def of_notices(settings: Settings) -> Settings:
    """The settings of the installation of notices about that of `settings`; raises `InvalidInput.bad_parameter`."""
    if settings.prefix.endswith(OF_NOTICES):
        problem = f"{settings.prefix} is an installation of notices: name the one that they are about"
        raise InvalidInput.bad_parameter(name="prefix", problem=problem)
    return replace(settings, prefix=f"{settings.prefix}{OF_NOTICES}", archive=None, partitions=None, accept_tables="",
                   accept_stranded="", accept_loss=False, feed=None, silence_after=0.0)  # fmt: skip


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

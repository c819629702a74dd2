"""The result of a dry run.

Belongs here: `DryRun`, which programs and the command get. Does not: deciding the event (`dry_run`).
"""

from typing import NamedTuple

from phaseline.engine.core.message import Message
from phaseline.engine.core.sources.numbers import Repeat, repeat_text
from phaseline.engine.publish.outcomes import Effect, effect_of, unread_of
from phaseline.schemas.records import Entity, Record, Rejection, Transition


class DryRun(NamedTuple):
    """The result of a dry run.

    sequence: the position that the event would get if it were stored now. entity: the entity that the event is about,
    before the event; None if unknown. records: the records that would be committed; messages: the same as log messages.
    repeat, older_than: why it has no effect, as in `Outcome`. behind: whether earlier events of
    this tree are still undecided, so their effect is missing; None if this user has no permission to find out.
    table_differences: how the tables here differ from those of the installation, as `changed: node; missing: release`;
    empty if they are the same.
    """

    sequence: int
    entity: Entity | None
    records: tuple[Record, ...]
    messages: tuple[Message, ...]
    repeat: Repeat | None
    behind: bool | None
    table_differences: str
    older_than: int = 0
    way_out: str = ""
    """What could be done about its rejection; empty if nothing is known."""

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that the event would make."""
        return tuple(record for record in self.records if isinstance(record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """The rejection of the event, if it would be rejected."""
        return next((record for record in self.records if isinstance(record, Rejection)), None)

    @property
    def repeated(self) -> str:
        """`number 44, heard at 2026-03-02T08:00:00Z`: what the event repeats; empty if it repeats nothing."""
        return "" if self.repeat is None else repeat_text(self.repeat)

    @property
    def effect(self) -> Effect:
        """Which of the three effects the event would have, as in `Outcome.effect`."""
        return effect_of(self.records)

    @property
    def unread(self) -> tuple[str, ...]:
        """The fields of the event that nothing would read."""
        return unread_of(self.records)

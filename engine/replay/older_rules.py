"""Which events of a log older rules decided: those of tables, or of rules in code, that have changed since.

Belongs here: telling this of an event, by the notes of the log or by the records themselves. Does not: what an audit
makes of them (`audit`), the notes (`log.table_eras`).
"""

from phaseline.engine.log.table_eras import Era
from phaseline.engine.replay.recorded_log import RecordedStep
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.subjects import kind_in

ROOT = 3
"""The token of an event's subject that names its tree: `<prefix>.inbox.<partition>.<root>.<kind>.<trigger>`."""


class OlderRules:
    """Tells which steps other rules decided than the present ones.

    A table decides together with those above and below it, so an event counts if one of these has changed. Where the
    log does not note which tables decided, the records say it. Events without records follow what was before them.
    """

    def __init__(self, kinds: Kinds) -> None:
        """kinds: the present tables."""
        self._kinds, self._versions = kinds, kinds.versions
        self._tops = {name: _top(kinds, name) for name in kinds}
        self._eras: dict[str, frozenset[str]] = {}
        self._before: dict[int, bool] = {}

    def decided(self, step: RecordedStep) -> bool:
        """Whether older rules decided the event of a step."""
        if step.era is None:
            return self._by_records(step)
        if step.era.digest == self._kinds.digest or step.event is None:
            return False
        changed = self._changed(step.era)
        kind = kind_in(step.event.subject.split(".", ROOT + 4), ROOT)
        return self._tops.get(kind, kind) in changed or kind not in self._tops

    def kinds_of(self, step: RecordedStep) -> list[str]:
        """The kinds of the records of a step whose rules have changed since, a kind for each record."""
        found = (wire_codec.made_by(message.body) for message in step.messages)
        return [kind for kind, version in found if kind and version != self._versions.get(kind)]

    def _changed(self, era: Era) -> frozenset[str]:
        """The topmost kinds of which one that belongs to them has changed since an era."""
        if era.digest not in self._eras:
            names = {*era.tables, *self._versions}
            differs = (name for name in names if era.tables.get(name) != self._versions.get(name))
            self._eras[era.digest] = frozenset(self._tops.get(name, name) for name in differs)
        return self._eras[era.digest]

    def _by_records(self, step: RecordedStep) -> bool:
        if step.messages:
            self._before[step.partition] = bool(self.kinds_of(step))
        return self._before.get(step.partition, False)


def _top(kinds: Kinds, name: str) -> str:
    """The topmost kind above a kind."""
    parent = kinds[name].parent
    while parent is not None and parent in kinds:
        name, parent = parent, kinds[parent].parent
    return name

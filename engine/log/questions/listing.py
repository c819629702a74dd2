"""Lists of selected entities, at any moment: from workers and STATE, or as of a place.

Belongs here: making a selection of the words that users give, reading what it selects. Does not: what is selected
(`selection`), asking workers (`asking`), other orders than by id.
"""

from collections.abc import AsyncIterator, Sequence

from phaseline.engine.log import state_view
from phaseline.engine.log.questions.asking import Asked
from phaseline.engine.log.questions.selection import ClassChoice, Selection
from phaseline.engine.log.questions.selector import EVERYTHING, Selector
from phaseline.engine.log.state_view import StateView
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Transition


def selection(
    kinds: Kinds, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
    condition: str | Sequence[str] = (), class_: str | Sequence[str] = (), lasting: float = 0, deleted: bool = False,
    selector: Selector = EVERYTHING, left_behind: bool = False,
) -> Selection:  # fmt: skip
    """The entities that these words mean; raises `InvalidInput` and `NameUnknown`, as `EntityView.list` does."""
    choice = chosen(kinds, kind, state, condition)
    RecordFilter(kind=kind, state=choice.phase, below=tree, choice=choice).check(kinds)
    of_class = ClassChoice.read(class_, lasting)
    return Selection(kind, tree, choice, of_class, selector, deleted=deleted, left_behind=left_behind)


async def selected(states: StateView, wanted: Selection, now_ns: int) -> Sequence[Transition]:
    """The last transitions of the entities that are selected at a time, ids in natural order."""
    found = [record async for records in each_selected(states, wanted, now_ns) for record in records]
    return state_view.in_order(found, None, deleted=True)


async def each_selected(states: StateView, wanted: Selection, now_ns: int) -> AsyncIterator[Sequence[Transition]]:
    """The same in no order, some at a time: of the latest states as soon as they are read."""
    kinds = states.installation.kinds
    if not isinstance(states, Asked):
        patterns = state_view.patterns(states.installation, wanted.kind, wanted.below)
        yield [one for one in await states.matching(patterns) if wanted.selects(kinds, one.entity, now_ns)]
        return
    found = await states.find(wanted, now_ns)
    yield found.records
    async for records in states.rest(found):
        yield [one for one in records if wanted.selects(kinds, one.entity, now_ns)]

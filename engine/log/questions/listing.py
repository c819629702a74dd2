"""Lists of selected entities, at any moment: from workers and STATE, or as of a place.

Belongs here: making a selection of the words that users give, reading what it selects. Does not: what is selected
(`selection`), asking workers (`asking`), other orders than by id.
"""

from collections.abc import AsyncIterator, Sequence

from phaseline.engine.log import state_view
from phaseline.engine.log.latest import Progress, unseen
from phaseline.engine.log.questions.asking import WorkersView
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


async def each_selected(
    states: StateView, wanted: Selection, now_ns: int, progress: Progress = unseen, *, in_order: bool = False
) -> AsyncIterator[Sequence[Transition]]:
    """The same some at a time: of the latest states as soon as they are read, in no order.

    in_order: ids in natural order; of the latest states, all that no worker names is read first, and held compressed.
    progress: is told how many are read, if many have to be.
    """
    if isinstance(states, WorkersView):
        each = states.each_selected_in_order if in_order else states.each_selected
        async for records in each(wanted, now_ns, progress):
            yield records
        return
    kinds, patterns = states.installation.kinds, state_view.patterns(states.installation, wanted.kind, wanted.below)
    found = [one for one in await states.matching(patterns) if wanted.selects(kinds, one.entity, now_ns)]
    yield state_view.in_order(found, None, deleted=True) if in_order else found

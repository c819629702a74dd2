"""What a file of rules says: rules, windows and receivers, checked.

Belongs here: their shapes. Does not: reading a file (`read_rules`), what a rule selects (`matching`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from phaseline.machines.kinds.gitops.cron import CronSchedule
from phaseline.schemas.records import SECOND
from phaseline.schemas.state_choice import StateChoice

Grouping = Literal["cause", "parent", "tree", "entity", "reason"]
HoldUnder = Literal["cause", "nothing"]
ReceiverType = Literal["webhook", "slack", "cloudevents", "alertmanager", "nats", "email"]
HOUR = 3_600 * SECOND
LIMIT = 4 * HOUR
"""The longest that a window lasts that an intent opened, unless the rules say otherwise, ns."""


class Choice(NamedTuple):
    """Which entities a rule is about. What is empty or False asks nothing.

    kinds, trees, labels: of which entities. trees: globs of ids; what is below a tree that fits belongs to it.
    classes, states, conditions, silent, stalled, left_behind: what lasts. A choice without any of these and of the
    following is about the class bad. gone, rejections, ended: what happens at once: a life ends, an event is rejected
    for one of these reasons (`*`: any), something under way ends in one of these classes.
    """

    kinds: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    classes: tuple[str, ...] = ()
    states: tuple[StateChoice, ...] = ()
    conditions: tuple[str, ...] = ()
    silent: bool = False
    stalled: bool = False
    left_behind: bool = False
    gone: bool = False
    rejections: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def is_of_happenings(self) -> bool:
        """Whether it is about what happens at once, so that nothing has to end."""
        return bool(self.gone or self.rejections or self.ended)

    @property
    def looks_at_class_only(self) -> bool:
        """Whether the class alone decides, so that the time counts from when the class began."""
        return not (self.states or self.conditions or self.silent or self.stalled or self.left_behind)


class Flapping(NamedTuple):
    """So many changes of one entity in so long are flapping, until so long without one. Times in ns."""

    changes: int
    within: int
    quiet: int


class Rule(NamedTuple):
    """When somebody is told, and who. Times in ns; 0 for at once, or never.

    lasting: `for`: how long it must have been so. clear_after: how long it must be over. hold_under: whether a notice
    waits while another one explains it.
    """

    name: str
    when: Choice
    to: tuple[str, ...]
    severity: str = "warning"
    unless: Choice | None = None
    lasting: int = 0
    clear_after: int = 0
    group: Grouping = "cause"
    hold_under: HoldUnder = "cause"
    flapping: Flapping | None = None
    remind: int = 0
    digest: int = 0


class QuietWindow(NamedTuple):
    """When no begin is told of some trees: at times of a schedule, between two times, or after an intent. Times in ns.

    lasting: how long a time of the schedule lasts. opened_by: triggers. limit: how long an intent counts at most; 0:
    until the deadline of what it asked for.
    """

    name: str
    trees: tuple[str, ...] = ()
    schedule: CronSchedule | None = None
    lasting: int = 0
    between: tuple[int, int] | None = None
    opened_by: tuple[str, ...] = ()
    limit: int = 0

    @property
    def longest(self) -> int:
        """How long an intent counts in any case at most."""
        return self.limit or LIMIT


class Receiver(NamedTuple):
    """Who is told, and how. options: by name, as the file has them, with secrets still named by their variable."""

    name: str
    type: ReceiverType
    options: Mapping[str, Any]


class Rules(NamedTuple):
    """A file of rules."""

    rules: Sequence[Rule] = ()
    windows: Sequence[QuietWindow] = ()
    receivers: Mapping[str, Receiver] = {}  # never changed

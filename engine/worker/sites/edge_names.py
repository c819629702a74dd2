"""What an edge is called on NATS: its streams, subjects and JetStream domain.

Belongs here: these names, and what may name an edge. Does not: how the streams are configured (`edge_streams`).
"""

from dataclasses import dataclass

from phaseline.engine.nats.accounts.users import EDGE_NAME, EDGE_PROBLEM
from phaseline.schemas import subjects
from phaseline.schemas.errors import BadSetting

FORMER_CONSUMERS = ("hub", "events")
"""The consumer of the store, and the one of the inlet, that earlier versions made."""


@dataclass(frozen=True, slots=True)
class EdgeNames:
    """The names of one edge of the installation `prefix`. Raises `BadSetting`."""

    prefix: str
    name: str

    def __post_init__(self) -> None:
        if not EDGE_NAME.fullmatch(self.name):
            raise BadSetting(name="edge", problem=f"{EDGE_PROBLEM}, found {self.name!r}")

    @property
    def store(self) -> str:
        """The stream at the edge."""
        return f"{_stream(self.prefix)}-EDGE"

    @property
    def inlet(self) -> str:
        """The stream at the hub that takes the events of the store."""
        return f"{inlets(self.prefix)}{self.name}"

    @property
    def domain(self) -> str:
        """The JetStream domain of the edge's server."""
        return f"{_stream(self.prefix)}-edge-{self.name}"

    @property
    def domain_api(self) -> str:
        """The prefix of the JetStream API of the edge's server, in the account of the leaf node."""
        return f"$JS.{self.domain}.API"

    @property
    def up(self) -> str:
        """The beginning of the subjects on which the store's messages come to the inlet."""
        return f"{self._subject}.up"

    @property
    def down(self) -> str:
        """The beginning of the subjects on which the inlet's messages come to EVENTS."""
        return f"{self._subject}.down"

    @property
    def account_api(self) -> str:
        """The prefix under which the engine's account imports the JetStream API of the edge's account."""
        return f"{self._subject}.api"

    @property
    def account_far_api(self) -> str:
        """The prefix under which the engine's account imports the JetStream API of the edge's server."""
        return f"{self._subject}.far"

    @property
    def note(self) -> str:
        """The key in the metadata of EVENTS that says up to where the hub took from the store of a removed edge."""
        return f"phaseline_taken_{self.name}"

    @property
    def _subject(self) -> str:
        return f"{self.prefix}.edge.{self.name}"


def edge_of(prefix: str, stream: str) -> str | None:
    """The name of the edge whose inlet is that stream; None if it is another stream."""
    start = inlets(prefix)
    return stream.removeprefix(start) if stream.startswith(start) else None


def tree_subjects(prefix: str, trees: tuple[str, ...]) -> list[str]:
    """The subjects of the events of these trees. Raises `BadSetting` for what cannot be the root of a tree."""
    for tree in trees:
        try:
            subjects.check_token(tree)
        except subjects.BadSubject as error:
            raise BadSetting(name="tree", problem=f"a tree is named by its root: {error}") from None
    return [f"{prefix}.events.{subjects.quote(tree)}.>" for tree in trees]


def inbox_subject(prefix: str, found: str, partitions: int) -> str:
    """The subject in EVENTS of what is published on such a subject of a tree."""
    rest = found.removeprefix(f"{prefix}.events.")
    return f"{prefix}.inbox.{subjects.partition_of(rest.removesuffix('.>'), partitions)}.{rest}"


def trees_of(prefix: str, found: list[str]) -> tuple[str, ...]:
    """The trees whose events have these subjects."""
    roots = (subject.removeprefix(f"{prefix}.events.").removesuffix(".>") for subject in found)
    return tuple(map(subjects.unquote, roots))


def _stream(prefix: str) -> str:
    return prefix.replace(".", "_")


def inlets(prefix: str) -> str:
    """How the names of all inlets begin."""
    return f"{_stream(prefix)}-INLET-"

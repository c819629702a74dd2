"""The questions about many entities that a worker answers, for the partitions that it owns.

Belongs here: taking and refusing questions, pages, how much work is done before others have a turn, how long an index
is kept. Does not: which entities are selected (`selection`), what is noted of them (`tree_index`).
A question must not keep events waiting: it works in steps between which commits and leases have their turn; questions
work one after the other; and what waits beyond `MOST` is refused, so that the asker reads STATE instead.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import NamedTuple, Protocol, TypeVar

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.question import (
    PATIENCE,
    After,
    Counts,
    Name,
    OwnerAnswer,
    Question,
    decode,
    encode,
    meaning_of,
)
from phaseline.engine.log.questions.tree_index import TreeIndex
from phaseline.engine.nats.frames import CODE, ERROR
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import Fenced, NatsUnreachable, NoAnswer, PhaselineError
from phaseline.schemas.records import SECOND, Entity

MOST = 1_024
"""Questions that may wait in a worker: four readers that ask about 256 partitions each."""
STEP = 500
"""Entities that are looked at before others have a turn."""
ROOM, TREE = 8_192, 1_200
"""Bytes of an answer that are kept free beside its names; the most that the counts of a tree take."""
LATELY = 3_600 * SECOND
TREES = 100
"""The most trees that an answer names."""
TURN = 5.0
"""Seconds between two looks at what has changed, so that the next question finds little to do."""
SHARE = 0.02
"""The part of its time that a worker gives to indexes about which nobody asks."""
ASKED = 600.0
"""Seconds for which an index is kept up to date after a question, whatever that takes."""
SHAPES = 20_000
"""The most shapes that an index remembers. Then it begins anew."""

T = TypeVar("T")
log = logs.get_logger(__name__)


OUTCOMES = ANSWERED, REFUSED, FAILED = "answered", "refused", "failed"
"""What becomes of a question."""


class OwnedTree(Protocol):
    """A partition that this worker owns."""

    @property
    def number(self) -> int:
        """Which one."""

    @property
    def worker(self) -> str:
        """The name of this worker."""

    @property
    def epoch(self) -> int:
        """How often the partition was taken over."""

    @property
    def tree(self) -> Tree | None:
        """Its entities; None while they are not loaded."""

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """The result of `ask` on the tree once all of it is committed, and the position that the tree has reached."""
        ...


class QuestionRefused(Exception):  # it is no error: the asker reads STATE
    """Why a question is not answered, by the conventions of NATS services."""

    def __init__(self, code: int, why: str) -> None:
        """code: as in HTTP."""
        super().__init__(why)
        self.code = code


class KindCandidates(NamedTuple):
    """Entities of a kind that may be selected, with their numbers. before: how many entities other kinds have first."""

    kind: str
    entities: Sequence[Entity]
    numbers: Sequence[int]
    before: int


class FoundAtOnce(NamedTuple):
    """What a question finds at one moment, in the order of pages."""

    epoch: int
    position: int
    entities: int
    parts: list[KindCandidates]
    counts: Counts | None


class NamesPage(NamedTuple):
    """The names of a page, how many entities stand up to its end, and where the next one begins."""

    names: list[Name]
    looked: int
    after: After | None


class IndexedPartition:
    """The index of one partition that this worker owns."""

    def __init__(self, partition: OwnedTree, installation: Installation) -> None:
        self.partition, self._kinds = partition, installation.kinds
        self._index: TreeIndex | None = None
        self._asked = -ASKED
        self._is_busy = asyncio.Lock()
        self._tree: Tree | None = None
        self._gave_up = False

    async def find(self, question: Question) -> "FoundAtOnce":
        """The entities that may be meant, all of one moment; raises `QuestionRefused` if the tree is not loaded."""
        self._asked, self._gave_up = time.monotonic(), False
        async with self._is_busy:
            index, _ = await self._prepared()
            found, position = await self.partition.look(lambda tree: self._look(tree, index, question))
        return found._replace(position=position)

    def _look(self, tree: Tree, index: TreeIndex, question: Question) -> "FoundAtOnce":
        if tree is not self._tree:
            raise QuestionRefused(503, "this partition was lost and taken again: ask again")
        index.catch_up(tree)
        wanted, now, after, parts = question.wanted, question.now_ns, question.after, list[KindCandidates]()
        for kind in index.kinds_from(wanted, None if after is None else after.kind):
            start = after.number + 1 if after is not None and kind == after.kind else 0
            parts.append(KindCandidates(kind, *index.candidates(kind, wanted, now, start), index.before(kind)))
        counts = _counts(index, now, wanted.below) if question.counts else None
        return FoundAtOnce(self.partition.epoch, 0, len(index), parts, counts)

    async def _prepared(self) -> tuple[TreeIndex, float]:
        """The index, and the seconds of computing that it took to bring it up to date."""
        tree = self.partition.tree
        if tree is None:
            raise QuestionRefused(503, "the states of this partition are still being loaded, or it was lost")
        index = self._index
        if index is None or self._tree is not tree or len(index.shapes) > SHAPES:
            index, self._tree = TreeIndex(self._kinds), tree
            self._index = index
        spent, began = 0.0, time.thread_time()
        for _ in index.prepare(tree):
            spent += time.thread_time() - began
            await asyncio.sleep(0)
            began = time.thread_time()
        return index, spent + time.thread_time() - began

    async def freshen(self, seconds: float) -> None:
        """Bring the index up to date before somebody asks; forget it where that takes longer and nobody asks."""
        if self._gave_up or self.partition.tree is None or self._is_busy.locked():
            return
        async with self._is_busy:
            is_first = self._index is None
            with suppress(QuestionRefused):
                _, spent = await self._prepared()
                if not is_first and spent > seconds and time.monotonic() - self._asked > ASKED:
                    self._index, self._tree, self._gave_up = None, None, True


class Questions:
    """The questions of one worker."""

    def __init__(self, installation: Installation, counted: Counter[str]) -> None:
        """Answers nothing before `listen`. counted: gets the number of questions, by what became of them."""
        self._installation, self._counted = installation, counted
        self._turn, self._waiting = asyncio.Lock(), 0
        self._meaning = cache(partial(meaning_of, installation.kinds))
        self._indexed: dict[int, IndexedPartition] = {}

    async def listen(self, partition: OwnedTree) -> int:
        """Answer for a partition that this worker owns; returns the subscription."""
        installation = self._installation
        indexed = self._indexed[partition.number] = IndexedPartition(partition, installation)
        return await installation.wire.serve(
            installation.subjects.entities(partition.number),
            lambda _, data, __, reply: self._respond(indexed, data, reply),
        )

    def end(self, partition: OwnedTree) -> None:
        """Forget what was noted of a partition."""
        found = self._indexed.get(partition.number)
        if found is not None and found.partition is partition:
            del self._indexed[partition.number]

    async def keep(self) -> None:
        """Keep the indexes up to date, as long as that takes little."""
        while True:
            await asyncio.sleep(TURN)
            for one in (found := [*self._indexed.values()]):
                await one.freshen(SHARE * TURN / len(found))

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """One question after the other; raises `QuestionRefused` if too many wait."""
        if self._waiting >= MOST:
            raise QuestionRefused(429, "this worker answers as many questions as it may: ask again, or read STATE")
        self._waiting += 1
        try:
            async with self._turn:
                yield
        finally:
            self._waiting -= 1

    async def _respond(self, indexed: IndexedPartition, data: bytes, reply: str) -> None:
        body, headers, outcome = b"", dict(content_types.AS_JSON), ANSWERED
        try:
            async with asyncio.timeout(PATIENCE), self._in_turn():
                body = encode(await self.answer(indexed, data))
        except TimeoutError:
            outcome, body, headers = REFUSED, b"{}", {**headers, **_refusal(503, "it takes too long: read STATE")}
        except QuestionRefused as error:
            outcome, body, headers = REFUSED, b"{}", {**headers, **_refusal(error.code, str(error))}
        except (Fenced, NoAnswer) as error:
            outcome, body, headers = REFUSED, b"{}", {**headers, **_refusal(503, str(error))}
        except Exception as error:  # whatever is wrong with a question must not leave the asker without an answer
            outcome, body, headers = FAILED, b"{}", {**headers, **_refusal(500, "the worker's log says why")}
            log.exception(
                "question_failed", partition=indexed.partition.number, error=f"{type(error).__name__}: {error}"
            )
        self._counted[outcome] += 1
        wire = self._installation.wire
        with suppress(NatsUnreachable, PhaselineError):
            wire.send(wire.frame(reply, body, headers))

    async def answer(self, indexed: IndexedPartition, data: bytes) -> OwnerAnswer:
        """The answer to a question; raises `QuestionRefused`."""
        question, partition = self._read(data), indexed.partition
        found = await indexed.find(question)
        if question.after is not None and question.epoch != found.epoch:
            raise QuestionRefused(409, "another owner gave the page before: ask from the beginning")
        page = await self._page(question, found)
        return OwnerAnswer(
            partition.number, partition.worker, found.epoch, found.position, found.entities, page.looked, page.names,
            page.after, found.counts,
        )  # fmt: skip

    def _read(self, data: bytes) -> Question:
        try:
            question = decode(data, Question)
        except ValueError as error:
            raise QuestionRefused(400, f"this is no question: {error}") from None
        kinds = self._installation.kinds
        about = question.about if question.about in kinds else None
        if question.meaning != (meaning := self._meaning(about)):
            raise QuestionRefused(409, f"this worker reads states by other tables: {meaning}, not {question.meaning}")
        return question

    async def _page(self, question: Question, found: "FoundAtOnce") -> NamesPage:
        """The names of those candidates that are selected, as many as an answer has room for."""
        room = self._installation.wire.max_payload - ROOM - (TREES * TREE if question.counts else 0)
        wanted, kinds, now, names, turn = question.wanted, self._installation.kinds, question.now_ns, list[Name](), 0
        for part in found.parts:
            for entity, number in zip(part.entities, part.numbers, strict=True):
                if (turn := turn + 1) % STEP == 0:
                    await asyncio.sleep(0)
                if wanted.is_within(entity) and wanted.by_itself(kinds, entity, now):
                    room -= 4 * len(entity.id) + len(part.kind) + 40
                    names.append(Name(part.kind, entity.id, entity.version))
                    if room < 0:
                        return NamesPage(names, part.before + number + 1, After(part.kind, number))
        return NamesPage(names, found.entities, None)


def _counts(index: TreeIndex, now_ns: int, root: str | None) -> Counts:
    """What the index counts, of all trees or of one."""
    begun = now_ns - LATELY
    if root is not None:
        one = index.tree(root)
        classes = {} if one is None else dict(one.classes)
        return Counts(
            classes, dict(index.lately_in(root, begun)), [(root, classes)] if classes else [], 1 if classes else 0
        )
    trees, number = index.trees(TREES)
    named = [(one.root, dict(one.classes)) for one in trees]
    return Counts(dict(index.classes()), dict(index.lately(begun)), named, number)


def _refusal(code: int, why: str) -> Mapping[str, str]:
    return {ERROR: " ".join(why.split())[:500], CODE: str(code)}

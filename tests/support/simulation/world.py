"""Virtual time, and processes that run in it: what happens when is chosen by a seed.

Belongs here: the clock, the event loop of a process, pausing and killing one. Does not: what a process does (`plant`),
what it talks to (`connection`).
A process has an event loop of its own, with the callbacks of real asyncio in their real order. While it is paused it
runs none of them; its timers then fire late, as after a freeze. A killed process never runs again.
"""

import asyncio
import heapq
import itertools
import random
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

BEGAN = 1_772_438_400
"""2026-03-02T08:00:00Z, in seconds: when each world begins."""
LOOK = 0.02
"""Virtual seconds between two looks whether to stop."""
NEVER = float("inf")
TURNS = 300_000
"""The most turns of one world: one with more of them does not end."""


class Endless(AssertionError):
    """A world goes on for ever."""


class ProcessLoop(asyncio.BaseEventLoop):
    """The event loop of one process. The world runs it, turn by turn."""

    def __init__(self, process: "Process") -> None:
        super().__init__()
        self.process, self._world = process, process.world
        self.faults: list[str] = []
        """What nobody has handled."""

    def time(self) -> float:
        """The virtual time."""
        return self._world.now

    def _write_to_self(self) -> None:
        """Nobody sleeps in a system call."""

    def run_in_executor(self, _: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """Run a thread's work at once: a simulation has one thread."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  # whoever waits gets it
            done.set_exception(error)
        return done

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Note what nobody has handled."""
        self.faults.append(f"{context.get('message')}: {context.get('exception')!r}")

    @property
    def due(self) -> float:
        """When this loop has something to do; never, if it waits for others only."""
        if self._ready:  # type: ignore[attr-defined]  # of BaseEventLoop, as what follows
            return self._world.now
        while self._scheduled and self._scheduled[0]._cancelled:  # type: ignore[attr-defined]
            heapq.heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
            self._timer_cancelled_count -= 1  # type: ignore[attr-defined]
        return self._scheduled[0]._when if self._scheduled else NEVER  # type: ignore[attr-defined]

    def turn(self) -> None:
        """Run what is ready now."""
        ready, scheduled, now = self._ready, self._scheduled, self._world.now  # type: ignore[attr-defined]
        while scheduled and scheduled[0]._when <= now:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False
            ready.append(handle)
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    handle._run()
        finally:
            asyncio._set_running_loop(before)


class Process:
    """One process of the world."""

    def __init__(self, world: "World", name: str) -> None:
        self.world, self.name = world, name
        self.loop = ProcessLoop(self)
        self.is_dead = False
        self.paused_until = 0.0
        self.connections: list[Any] = []
        """What is open. Connections of a process that was killed end with it."""
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Run this beside what runs."""
        task = self.loop.create_task(work)
        self.tasks.append(task)
        return task

    def call(self, call: Callable[..., object], *args: object) -> None:
        """Let this process call something in its next turn."""
        if not self.is_dead:
            self.loop.call_soon(call, *args)

    def pause(self, seconds: float) -> None:
        """Run nothing for so long."""
        self.paused_until = max(self.paused_until, self.world.now + seconds)

    def kill(self) -> None:
        """Run nothing any more. The server notices that the connections end."""
        self.is_dead = True
        for one in self.connections:
            one.ended_by_kill()

    def bury(self) -> None:
        """Drop what the process was doing, without running any of it on."""
        self.is_dead = True
        loop = self.loop
        for task in asyncio.all_tasks(loop):
            setattr(task, "_log_destroy_pending", False)  # noqa: B010  # asyncio reads it, and typeshed lacks it
            work = task.get_coro()
            for _ in range(20):
                try:
                    work.close()
                except RuntimeError:
                    continue  # a `finally` of it waits for something
                except BaseException:  # noqa: BLE001  # whatever it raises, it is dropped
                    pass
                break
        loop._ready.clear()  # type: ignore[attr-defined]
        loop._scheduled.clear()  # type: ignore[attr-defined]
        loop.close()


class World:
    """Virtual time, and what happens in it, one thing after the other."""

    def __init__(self, seed: int, *, is_told: bool = False) -> None:
        """is_told: whether to keep a line of each thing that happens."""
        self.seed, self.dice, self.now = seed, random.Random(seed), 1_000.0
        self.story: list[str] = []
        self.is_told = is_told
        self._serial = itertools.count()
        self._events: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self.processes: list[Process] = []
        self.servers: dict[str, Any] = {}
        """By address."""
        self.turns = 0
        self.is_over = False
        self._names = random.Random(seed + 1)

    def tell(self, *words: object) -> None:
        """Note what happens."""
        if self.is_told:
            self.story.append(f"{self.now - 1_000:9.4f}  {' '.join(map(str, words))}")

    def later(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        """Call something at a later time, outside of any process."""
        heapq.heappush(self._events, (self.now + seconds, next(self._serial), call, args))

    def process(self, name: str) -> Process:
        """A new process."""
        made = Process(self, name)
        self.processes.append(made)
        return made

    def run(self, until: Callable[[], bool], seconds: float) -> bool:
        """Let things happen until this holds; False if it does not within so many seconds."""
        end, look = self.now + seconds, self.now
        while True:
            if self.now >= look:
                if until():
                    return True
                look = self.now + LOOK
            if not self._step(end):
                return until()

    def _step(self, end: float) -> bool:
        """Let the next thing happen; False if there is none before the end."""
        first, acting = self._events[0][0] if self._events else end + 1, None
        for one in self.processes:
            if not one.is_dead:
                due = one.loop.due
                if due < first or one.paused_until > due:
                    at = max(due, one.paused_until)
                    if at < first:
                        first, acting = at, one
        if first > end:
            self.now = max(self.now, end)
            return False
        self.now = max(self.now, first)
        if acting is None:
            _, _, call, args = heapq.heappop(self._events)
            call(*args)
            return True
        self.turns += 1
        if self.turns > TURNS:
            raise Endless(f"seed {self.seed}: more than {TURNS:,} turns")
        acting.loop.turn()
        return True

    def complete(self, process: Process, work: Coroutine[Any, Any, Any], seconds: float = 600.0) -> Any:
        """The result of what a process does; raises what it raises."""
        task = process.start(work)
        if not self.run(task.done, seconds):
            raise TimeoutError(f"seed {self.seed}: {process.name} does not end")
        return task.result()

    def time_ns(self) -> int:
        """The wall clock, ns."""
        return int((BEGAN + self.now) * 1_000_000_000)

    def _passed(self) -> float:
        return self.now

    def _seconds(self) -> float:
        return BEGAN + self.now

    def _token(self, size: int | None = None) -> str:
        return self._names.randbytes(size or 16).hex()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """In this block the clocks and the random names of the whole process are those of the world."""
        with (
            mock.patch.object(time, "monotonic", self._passed),
            mock.patch.object(time, "perf_counter", self._passed),
            mock.patch.object(time, "time", self._seconds),
            mock.patch.object(time, "time_ns", self.time_ns),
            mock.patch.object(secrets, "token_hex", self._token),
            mock.patch.object(secrets, "randbelow", self._names.randrange),
        ):
            try:
                yield
            finally:
                self._bury()

    def _bury(self) -> None:
        """Let nothing of this world run on."""
        self.is_over = True
        with mock.patch.object(sys, "unraisablehook", _ignored), warnings.catch_warnings(action="ignore"):
            for one in self.processes:
                one.bury()


def _ignored(_: object) -> None:
    """Say nothing of what a killed process was about to do."""

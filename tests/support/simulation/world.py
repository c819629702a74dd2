"""Virtual time, and processes that run in it: what happens when is chosen by a seed.

Belongs here: the clock, the event loop of a process, pausing and killing one. Does not: what a process does (`plant`),
what it talks to (`connection`).
A process has an event loop of its own, with the tasks and futures of real asyncio, and its order of callbacks. While it
is paused it runs none of them; its timers then fire late, as after a freeze. A killed process never runs again.
"""

import asyncio
import heapq
import itertools
import random
import secrets
import sys
import time
import warnings
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any
from unittest import mock

BEGAN = 1_772_438_400
"""2026-03-02T08:00:00Z, in seconds: when each world begins."""
LOOK = 0.02
"""Virtual seconds between two looks whether to stop, where a look costs little."""
NEVER = float("inf")
TURNS = 300_000
"""The most turns of one world: one with more of them does not end."""


class Endless(AssertionError):
    """A world goes on for ever."""


class ProcessLoop(asyncio.AbstractEventLoop):
    """The event loop of one process. The world runs it, turn by turn."""

    def __init__(self, process: "Process") -> None:
        self.process, self._world = process, process.world
        self.faults: list[str] = []
        """What nobody has handled."""
        self.made: list[weakref.ref[asyncio.Task[Any]]] = []
        """The tasks that were made."""
        self.ready = deque[Call]()
        """What is to be called in the next turn."""
        self._timers: list[tuple[float, int, Timer]] = []
        self._serial = itertools.count()

    def time(self) -> float:
        """The virtual time."""
        return self._world.now

    get_debug = bool  # False: to look for mistakes takes long. Each future and task asks

    def is_running(self) -> bool:
        """Whether it has not ended."""
        return not self.process.is_dead

    def is_closed(self) -> bool:
        """Whether it has ended."""
        return self.process.is_dead

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> "Call":
        """Call something in the next turn."""
        made = Call(callback, args, context or copy_context())
        self.ready.append(made)
        return made

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> "Timer":
        """Call something at a moment."""
        made = Timer(callback, args, context or copy_context())
        made.moment = when
        heapq.heappush(self._timers, (when, next(self._serial), made))
        return made

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> "Timer":
        """Call something after so many seconds."""
        return self.call_at(self._world.now + delay, callback, *args, context=context)

    def create_future(self) -> "asyncio.Future[Any]":
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> "asyncio.Task[Any]":
        """A task of this loop."""
        made = asyncio.Task(coro, loop=self, name=name, context=context)
        self.made.append(weakref.ref(made))
        return made

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
    def unhandled(self) -> list[str]:
        """What nobody has handled: also of tasks that are over, and whose outcome nobody has asked for."""
        known = [task for one in self.made if (task := one()) is not None]
        over = [one for one in known if one.done() and not one.cancelled() and one._log_traceback]
        return self.faults + [f"{one.get_name()}: {one.exception()!r}" for one in over]

    def due(self) -> float:
        """When this loop has something to do; never, if it waits for others only."""
        if self.ready:
            return self._world.now
        timers = self._timers
        while timers:
            if not timers[0][2].is_cancelled:
                return timers[0][0]
            heapq.heappop(timers)
        return NEVER

    def turn(self, first: Callable[..., object] | None = None, args: tuple[Any, ...] = ()) -> None:
        """Run what is ready now, and what that makes ready; before it, what the server has sent."""
        ready, timers, world = self.ready, self._timers, self._world
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            if first is not None:
                try:
                    first(*args)
                except Exception as error:  # noqa: BLE001  # as asyncio does
                    self.call_exception_handler({"message": "in a callback", "exception": error})
            while timers and timers[0][0] <= world.now:
                ready.append(heapq.heappop(timers)[2])
            while ready:
                world.turns += 1
                if world.turns > TURNS:
                    raise Endless(f"seed {world.seed}: more than {TURNS:,} turns")
                for _ in range(len(ready)):
                    one = ready.popleft()
                    if not one.is_cancelled:
                        try:
                            one.context.run(one.callback, *one.args)
                        except Exception as error:  # noqa: BLE001  # as asyncio does
                            self.call_exception_handler({"message": "in a callback", "exception": error})
        finally:
            asyncio._set_running_loop(before)

    def drop(self) -> None:
        """Forget all that was to be called."""
        self.ready.clear()
        self._timers.clear()


class Call:
    """A callback that waits for its turn."""

    __slots__ = ("args", "callback", "context", "is_cancelled")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...], context: Context) -> None:
        self.callback, self.args, self.context = callback, args, context
        self.is_cancelled = False

    def cancel(self) -> None:
        """Call it never."""
        self.is_cancelled, self.args = True, ()

    def cancelled(self) -> bool:
        """Whether it is never called."""
        return self.is_cancelled


class Timer(Call):
    """A callback that waits for a moment."""

    __slots__ = ("moment",)
    moment: float

    def when(self) -> float:
        """The moment."""
        return self.moment


class Process:
    """One process of the world."""

    def __init__(self, world: "World", name: str) -> None:
        self.world, self.name = world, name
        self.loop = ProcessLoop(self)  # type: ignore[abstract]  # what nobody calls is left out
        self.is_dead = False
        self._paused_until, self._wakes_at = 0.0, NEVER
        self.connections: list[Any] = []
        """What is open. Connections of a process that was killed end with it."""
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Run this beside what runs."""
        task = self.loop.create_task(work)
        self.tasks.append(task)
        self._wake()
        return task

    def call(self, call: Callable[..., object], *args: object) -> None:
        """Let this process call something in its next turn."""
        if not self.is_dead:
            self.loop.call_soon(call, *args)
            if self._wakes_at > self.world.now:
                self._wake()

    def arrive(self, call: Callable[..., object], args: tuple[Any, ...]) -> None:
        """Let this process take what has arrived: now, if that is all there is to do at this moment."""
        if self.is_dead:
            return
        world, loop = self.world, self.loop
        now = world.now
        if self._paused_until > now or loop.ready or self._wakes_at <= now or world.has_more:
            self.call(call, *args)
            return
        loop.turn(call, args)
        self._wake()

    def pause(self, seconds: float) -> None:
        """Run nothing for so long."""
        self._paused_until = max(self._paused_until, self.world.now + seconds)

    def go_on(self) -> None:
        """Run again, if it is paused."""
        self._paused_until = 0.0
        if not self.is_dead:
            self._wake()

    def _wake(self) -> None:
        """Run a turn when there is something to do."""
        due = self.loop.due()
        due = max(due, self._paused_until)
        if due < self._wakes_at:
            self._wakes_at = due
            self.world.at(due, self._turn, due)

    def _turn(self, due: float) -> None:
        if self.is_dead or due != self._wakes_at:
            return
        self._wakes_at = NEVER
        if self._paused_until <= self.world.now:
            self.loop.turn()
        self._wake()

    def kill(self) -> None:
        """Run nothing any more. The server notices that the connections end."""
        self.is_dead = True
        for one in self.connections:
            one.ended_by_kill()

    def bury(self) -> None:
        """Drop what the process was doing, without running any of it on."""
        self.is_dead = True
        loop = self.loop
        # What a `finally` begins belongs to this loop. Without it asyncio would keep it in a loop of this thread.
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(loop)
        try:
            for one in loop.made:  # it grows: a `finally` may make tasks
                if (task := one()) is not None and not task.done():
                    setattr(task, "_log_destroy_pending", False)  # noqa: B010  # asyncio reads it, and typeshed lacks it
                    _close_work(task.get_coro())
        finally:
            asyncio._set_running_loop(before)
        loop.drop()


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

    @property
    def has_more(self) -> bool:
        """Whether something else happens at this moment."""
        return bool(self._events) and self._events[0][0] <= self.now

    def later(self, seconds: float, call: Callable[..., object], *args: Any) -> None:
        """Call something at a later time, outside of any process."""
        heapq.heappush(self._events, (self.now + seconds, next(self._serial), call, args))

    def at(self, moment: float, call: Callable[..., object], *args: Any) -> None:
        """Call something at a moment; at once if it is past."""
        heapq.heappush(self._events, (moment, next(self._serial), call, args))

    def process(self, name: str) -> Process:
        """A new process."""
        made = Process(self, name)
        self.processes.append(made)
        return made

    def run(self, until: Callable[[], bool], seconds: float, look: float = LOOK) -> bool:
        """Let things happen until this holds; False if it does not within so many seconds.

        look: virtual seconds between two looks whether it holds.
        """
        end, next_look, events = self.now + seconds, self.now, self._events
        while True:
            if self.now >= next_look:
                if until():
                    return True
                next_look = self.now + look
            if not events or events[0][0] > end:
                self.now = max(self.now, end)
                return until()
            moment, _, call, args = heapq.heappop(events)
            if moment > self.now:  # noqa: PLR1730  # it is called for everything that happens
                self.now = moment
            call(*args)

    def pass_by(self, seconds: float) -> None:
        """Let things happen for so long."""
        self.run(lambda: False, seconds, seconds)

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
            hooks = sys.get_asyncgen_hooks()
            sys.set_asyncgen_hooks(finalizer=_close)
            try:
                yield
            finally:
                self._bury()
                sys.set_asyncgen_hooks(*hooks)

    def _bury(self) -> None:
        """Let nothing of this world run on."""
        self.is_over = True
        with mock.patch.object(sys, "unraisablehook", _ignored), warnings.catch_warnings(action="ignore"):
            for one in self.processes:
                one.bury()


def _close_work(work: Any) -> None:
    """End a coroutine, whatever it says to that."""
    for _ in range(20):
        try:
            work.close()
        except RuntimeError:
            continue  # a `finally` of it waits for something
        except BaseException:  # noqa: BLE001  # whatever it raises, it is dropped
            pass
        break


def _close(left: AsyncGenerator[Any, Any]) -> None:
    """Let the process that runs now close a generator that nobody reads on, as asyncio does."""
    loop = asyncio._get_running_loop()
    if isinstance(loop, ProcessLoop) and not loop.is_closed():
        loop.create_task(left.aclose())


def _ignored(_: object) -> None:
    """Say nothing of what a killed process was about to do."""

"""Replays a seed and prints what happened: `python -m tests.support.simulation SEED`. With a number after it, so many.

Belongs here: printing. Does not: the schedule (`schedule`).
"""

import sys
import time

from tests.support.simulation import schedule


def main(seed: int, count: int = 0) -> None:
    """Replay one seed, or run as many from it on."""
    if not count:
        found = schedule.run(seed, is_told=True)
        print(*found.story, found, sep="\n")  # noqa: T201  # it is a command
        return
    began = time.process_time()
    for one in range(seed, seed + count):
        if (found := schedule.run(one)).problems:
            print(found, flush=True)  # noqa: T201
    spent = time.process_time() - began
    print(f"{count:,} schedules, {spent / count * 1_000:.0f} ms of CPU each")  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

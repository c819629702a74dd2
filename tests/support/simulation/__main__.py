"""Replays a seed and prints what happened, or runs many: `python -m tests.support.simulation --help`.

Belongs here: the command line. Does not: the schedule (`schedule`), many of them (`many`).
"""

import argparse
import sys

from tests.support.simulation import many, schedule


def main() -> int:
    """Replay one seed, or run many; 1 if one fails."""
    reader = argparse.ArgumentParser(prog="python -m tests.support.simulation", description=__doc__.splitlines()[0])
    reader.add_argument("seed", nargs="?", type=int, default=0, help="replay this one, or begin with it (default 0)")
    reader.add_argument("--schedules", type=int, default=0, help="how many to run; prints the seeds that fail")
    reader.add_argument("--processes", type=int, default=many.cores(), help="that share them (default: one a core)")
    asked = reader.parse_args()
    if not asked.schedules:
        found = schedule.run(asked.seed, is_told=True)
        print(*found.story, found, sep="\n")  # noqa: T201  # it is a command
        return bool(found.problems)
    seeds = range(asked.seed, asked.seed + asked.schedules)
    failed = many.report(seeds, asked.processes, lambda line: print(line, flush=True))  # noqa: T201
    print("all hold" if not failed else f"seeds that fail: {' '.join(map(str, sorted(failed)))}")  # noqa: T201
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

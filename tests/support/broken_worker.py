"""A worker process that fails on some events: `python -m tests.support.broken_worker URL PREFIX PATTERN`.

Belongs here: reading an event whose inbox subject has the pattern raises what no rule expects, as a library of a wrong
version does. Does not: the tests.
"""

import asyncio
import logging
import re
import sys
from typing import Any

from phaseline.engine.core import intake
from phaseline.engine.settings import Settings
from phaseline.engine.worker.system import run_worker, stopped_by_signals
from phaseline.machines.built_in import installed
from phaseline.schemas import envelope
from phaseline.schemas.errors import SetupError


class Broken:
    """The module `envelope`, with the fault."""

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern)

    def decode(self, body: bytes, subject: str = "") -> Any:
        """As `envelope.decode`, with the fault."""
        if self.pattern.search(subject):
            raise LookupError("no such codec")
        return envelope.decode(body, subject)

    def __getattr__(self, name: str) -> Any:
        return getattr(envelope, name)


async def main() -> None:
    """Run the worker that the arguments describe."""
    url, prefix, _ = sys.argv[1:]
    settings = Settings(nats=tuple(url.split(",")), prefix=prefix, lease=1.0, partitions=1)
    try:
        await run_worker(settings, installed(), stopped_by_signals())
    except SetupError as error:
        if not SetupError.worker_faults.made(error):
            raise
        sys.exit(str(error))


if __name__ == "__main__":
    intake.envelope = Broken(sys.argv[3])  # type: ignore[assignment,attr-defined]  # as intended
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())

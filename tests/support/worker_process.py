"""A worker process for tests that kill it: `python -m tests.support.worker_process URL PREFIX [PARTITION]`.

With a partition it takes that partition without a lease. So two of them can believe that they own it.
"""

import asyncio
import logging
import sys

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.partition import Partition
from phaseline.engine.worker.system import run_worker, stopped_by_signals
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Fenced

log = logs.get_logger(__name__)


async def alone(settings: Settings, partition: int) -> None:
    """Own one partition without a lease."""
    async with Wire.open(settings, name="alone", patient=True) as wire:
        layout = await provision(wire, settings)
        try:
            await Partition(Installation(wire, layout, installed()), partition, "alone").run(stopped_by_signals())
        except Fenced as error:
            log.warning("partition_lost", partition=partition, error=str(error))


async def main() -> None:
    """Run the worker that the arguments describe."""
    url, prefix, *partition = sys.argv[1:]
    settings = Settings(nats=tuple(url.split(",")), prefix=prefix, lease=1.0)
    if partition:
        await alone(settings, int(partition[0]))
    else:
        await run_worker(settings, installed(), stopped_by_signals())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())

"""The errors that a change of the number of partitions meets.

Belongs here: those of `engine.repartition`. Does not: those that a partition meets (`log.division.division_errors`).
"""

from phaseline.engine.errors import NoAnswer, SetupError


class RepartitionUnfinished(NoAnswer):
    """the {partitions} new partitions do not all work after {seconds:g} s: {opened} do, {closed} old ones are closed

    Workers go on by themselves. The same command waits for them again.
    """

    partitions: int
    opened: int
    closed: int
    seconds: float


class RepartitionUnderWay(SetupError):
    """a change to {partitions} partitions is under way: repeat it to wait for its end, then ask for {wanted}"""

    partitions: int
    wanted: int


class WorkersTooOld(SetupError):
    """these workers cannot change the number of partitions, or do not answer: {workers}; update them, or end them"""

    workers: str


class NoWorkers(SetupError):
    """no worker of the installation {prefix!r} is running, and workers make the change: start one, then try again"""

    prefix: str


class TablesUnsettled(SetupError):
    """the {partitions} partitions are not all decided by the same tables: finish the change of tables first"""

    partitions: int

"""The errors of a partition that belongs to another division than the present one.

Belongs here: those that a worker meets. Does not: those of the command (`repartition.repartition_errors`), all others
(`engine.errors`).
"""

from phaseline.engine.errors import NoAnswer


class NotClosedYet(NoAnswer):
    """partition {partition} cannot begin: partition {former} of the former division is not closed yet"""

    partition: int
    former: int


class PartitionClosed(NoAnswer):
    """partition {partition} is closed for good: the installation has other partitions now"""

    partition: int

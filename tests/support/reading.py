"""What the log is read with: states now and at a moment, records, what waits to be decided.

Belongs here: what tests of several of these take from the engine. Does not: the public names, which tests take from
`phaseline`.
"""

from phaseline.engine.log import as_of, log_records
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.explain.model import as_map
from phaseline.engine.log.latest import Latest
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import record_in, records
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.log.when import END
from phaseline.engine.publish.backlog import Backlog, PartitionBacklog, backlog, owner_of, until_decided

__all__ = [
    "END", "AsOf", "Backlog", "Latest", "Log", "PartitionBacklog", "Pattern", "RecordFilter", "StateView", "as_map",
    "as_of", "backlog", "chosen", "log_records", "owner_of", "record_in", "records",
    "until_decided",
]  # fmt: skip

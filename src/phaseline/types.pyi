# Written by `python -m phaseline.engine.surfaces.generate` from the table in types.py.

from phaseline.engine.surfaces.cells.merging import CellsWatch as CellsWatch
from phaseline.engine.surfaces.cells.reading import CellRecord as CellRecord
from phaseline.engine.surfaces.cells.reading import InCell as InCell
from phaseline.engine.surfaces.client.connecting import Connecting as Connecting
from phaseline.engine.core.counts.by_source import BySource as BySource
from phaseline.engine.core.counts.by_source import SourceCounts as SourceCounts
from phaseline.engine.core.sources.numbers import Repeat as Repeat
from phaseline.engine.publish.source_counts import SourceReport as SourceReport
from phaseline.engine.publish.source_counts import SourceRow as SourceRow
from phaseline.engine.surfaces.client.reading_client import ReadingClient as ReadingClient
from phaseline.engine.surfaces.client.rejection_counts import RejectionCount as RejectionCount
from phaseline.engine.core.message import Message as Message
from phaseline.engine.log.explain.model import CauseChain as CauseChain
from phaseline.engine.log.explain.model import Contradiction as Contradiction
from phaseline.engine.log.explain.model import FacetExplanation as FacetExplanation
from phaseline.engine.log.explain.model import GivenReason as GivenReason
from phaseline.engine.log.explain.model import PredicateExplanation as PredicateExplanation
from phaseline.engine.log.explain.model import ViewExplanation as ViewExplanation
from phaseline.engine.log.timeline import Interval as Interval
from phaseline.engine.log.timeline import Lane as Lane
from phaseline.engine.surfaces.follow.follower import FollowChoice as FollowChoice
from phaseline.engine.surfaces.follow.follower import FollowerState as FollowerState
from phaseline.engine.surfaces.overview.overview import Dwell as Dwell
from phaseline.engine.surfaces.overview.overview import Noticed as Noticed
from phaseline.engine.surfaces.overview.overview import TreeClasses as TreeClasses
from phaseline.engine.surfaces.overview.overview import Trouble as Trouble
from phaseline.engine.publish.compose import EventDetails as EventDetails
from phaseline.engine.settings import Settings as Settings
from phaseline.engine.log.explain.shut import Shut as Shut
from phaseline.engine.log.explain.staleness import Stale as Stale
from phaseline.engine.surfaces.testing.driven import DrivenMachine as DrivenMachine
from phaseline.engine.log.explain.unknown_parts import LackingParts as LackingParts
from phaseline.engine.log.explain.unknown_parts import UnknownParts as UnknownParts
from phaseline.engine.worker.services import ServiceQuery as ServiceQuery
from phaseline.machines.language.product import BrokenKind as BrokenKind
from phaseline.schemas.records import Heard as Heard
from phaseline.schemas.records import LeftOut as LeftOut
from phaseline.schemas.records import Mark as Mark
from phaseline.schemas.records import Memory as Memory
from phaseline.schemas.records import Noted as Noted
from phaseline.schemas.records import Stay as Stay

__all__: list[str]

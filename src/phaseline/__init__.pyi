# Written by `python -m phaseline.engine.surfaces.generate` from the table in __init__.py.

from phaseline import emco as emco
from phaseline import errors as errors
from phaseline import fleet as fleet
from phaseline import gitops as gitops
from phaseline import levels as levels
from phaseline import sync as sync
from phaseline import tables as tables
from phaseline import testing as testing
from phaseline import triggers as triggers
from phaseline import types as types
from phaseline.engine.surfaces.cells.cells import Cells as Cells
from phaseline.engine.surfaces.client.client import Client as Client
from phaseline.engine.surfaces.client.connecting import connect as connect
from phaseline.engine.surfaces.client.entity_view import EntityView as EntityView
from phaseline.engine.surfaces.client.numbered_source import NumberedSource as NumberedSource
from phaseline.engine.log.explain.model import Explanation as Explanation
from phaseline.engine.log.changes import Change as Change
from phaseline.engine.log.log_records import Logged as Logged
from phaseline.engine.log.timeline import Timeline as Timeline
from phaseline.engine.log.watch import Watch as Watch
from phaseline.engine.log.when import Moment as Moment
from phaseline.engine.log.when import When as When
from phaseline.engine.surfaces.follow.follow import Follow as Follow
from phaseline.engine.surfaces.follow.follow import Followed as Followed
from phaseline.engine.surfaces.overview.dwell_watch import DwellWatch as DwellWatch
from phaseline.engine.surfaces.overview.overview import Overview as Overview
from phaseline.engine.publish.outcomes import Outcome as Outcome
from phaseline.engine.publish.pipeline import PublishResult as PublishResult
from phaseline.engine.publish.single import Receipt as Receipt
from phaseline.engine.replay.dry_run_result import DryRun as DryRun
from phaseline.engine.settings import ConnectionSettings as ConnectionSettings
from phaseline.engine.surfaces.testing.driven import machine as machine
from phaseline.machines.compiler.kinds import Kinds as Kinds
from phaseline.schemas.errors import PhaselineError as PhaselineError
from phaseline.schemas.envelope import Event as Event
from phaseline.schemas.records import Cause as Cause
from phaseline.schemas.records import Entity as Entity
from phaseline.schemas.records import FacetState as FacetState
from phaseline.schemas.records import Rejection as Rejection
from phaseline.schemas.records import State as State
from phaseline.schemas.records import Transition as Transition

__all__: list[str]
__version__: str

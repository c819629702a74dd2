# Written by `python -m phaseline.engine.surfaces.generate` from the table in fleet.py.

from phaseline.engine.products.fleet.counts import FleetClusterCounts as FleetClusterCounts
from phaseline.engine.products.fleet.counts import FleetCounts as FleetCounts
from phaseline.engine.products.fleet.counts import FleetDisplay as FleetDisplay
from phaseline.engine.products.fleet.counts import FleetPart as FleetPart
from phaseline.engine.products.fleet.views import Fleet as Fleet
from phaseline.engine.products.fleet.views import FleetView as FleetView

__all__: list[str]

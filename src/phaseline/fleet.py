"""What the reads of Fleet give: counts of repositories, bundles, deployments and clusters (docs/fleet.md).

Belongs here: the public names of Fleet. A name is loaded when it is first used. Does not: any code.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `fleet.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.products.fleet.counts": "FleetClusterCounts FleetCounts FleetDisplay FleetPart",
    "phaseline.engine.products.fleet.views":  "Fleet FleetView",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES)

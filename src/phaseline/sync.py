"""The client for scripts and notebooks, without asyncio: `with phaseline.sync.connect() as client`. See docs/client.md.

Belongs here: the public names of that client. Does not: the values that its methods return, which are those of
`phaseline` itself.
"""

from phaseline.engine.client.portal import Watch
from phaseline.engine.client.sync_client import (
    Client,
    Emco,
    EmcoView,
    EntityView,
    Fleet,
    FleetView,
    Gitops,
    connect,
)
from phaseline.engine.public_names import name_as_public

__all__ = ["Client", "Emco", "EmcoView", "EntityView", "Fleet", "FleetView", "Gitops", "Watch", "connect"]

for _name in __all__:
    name_as_public(globals()[_name], globals()[_name].__module__, __name__)

"""The client for scripts and notebooks, without asyncio: `with phaseline.sync.connect() as client`. See docs/client.md.

Belongs here: the public names of that client. Does not: the values that its methods return, which are those of
`phaseline` itself; the types, which stand in the stub beside this module (`surfaces.sync_stub`).
"""

from phaseline.engine.surfaces.client.portal import DwellWatch, Follow, Watch
from phaseline.engine.surfaces.client.sync_client import Client, EntityView, NumberedSource, connect, mirror_of
from phaseline.engine.products.emco import views as emco
from phaseline.engine.products.fleet import views as fleet
from phaseline.engine.products.gitops import views as gitops
from phaseline.engine.products.levels import views as levels
from phaseline.engine.public_names import name_as_public

__all__ = [
    "Client", "DwellWatch", "Emco", "EmcoView", "EntityView", "Fleet", "FleetView", "Follow", "Gitops", "Levels",
    "NumberedSource", "Watch", "connect",
]  # fmt: skip

Emco, EmcoView = mirror_of(emco.Emco), mirror_of(emco.EmcoView)
Fleet, FleetView = mirror_of(fleet.Fleet), mirror_of(fleet.FleetView)
Gitops = mirror_of(gitops.Gitops)
Levels = mirror_of(levels.Levels)

for _name in __all__:
    name_as_public(globals()[_name], globals()[_name].__module__, __name__)

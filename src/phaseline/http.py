"""Requests that a package adds to `phaseline serve`. See docs/own-kinds.md. Needs the extra `http`.

Belongs here: the public names. Does not: the requests of Phaseline itself.
"""

from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.routes import Route

__all__ = ["Call", "HttpAnswer", "Parameter", "Route"]

"""The step through which each request passes before it is answered.

Belongs here: `Access`. Does not: what a request needs (`http.routes`), answering it.
"""

from collections.abc import Mapping

from starlette.requests import Request

from phaseline.engine.http.access.caller import LOCAL, Caller, Role


class Access:
    """Lets everybody in who reaches the server."""

    headers: Mapping[str, str] = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
    """Headers of every answer."""

    async def admit(self, request: Request, role: Role) -> Caller:  # noqa: ARG002  # everybody may
        """Who asks; raises one of our errors if he may not. role: what the request needs."""
        return LOCAL

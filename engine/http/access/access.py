"""The step through which each request passes before it is answered.

Belongs here: `Access`, and where the server may listen. Does not: what a request needs (`http.routes`), answering it.
"""

from collections.abc import Mapping
from ipaddress import ip_address

from starlette.requests import Request

from phaseline.engine.errors import BadSetting
from phaseline.engine.http.access.caller import LOCAL, Caller, Role


def check_reach(host: str) -> None:
    """Raise `BadSetting` for an address that others can reach: nobody is asked who he is."""
    try:
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        problem = f"other machines may reach {host[:128]}, and nobody is asked who he is: listen on 127.0.0.1"
        raise BadSetting(name="listen", problem=problem)


class Access:
    """Lets everybody in who reaches the server."""

    headers: Mapping[str, str] = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
    """Headers of every answer."""

    async def admit(self, request: Request, role: Role) -> Caller:  # noqa: ARG002  # everybody may
        """Who asks; raises one of our errors if he may not. role: what the request needs."""
        return LOCAL

"""To which host a request is addressed, and which page sent it.

A page of another site can send requests to a server on this machine, and with a name of its own that leads here it can
read the answers. So the host must be one of ours, and what changes something must come from our page or from no page.
Belongs here: these two checks. Does not: who asks (`access`).
"""

import ipaddress
import re
from collections.abc import Collection

from starlette.requests import Request

from phaseline.schemas.errors import InvalidInput

LOCAL_HOSTS = ("localhost", "*.localhost")
HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::[0-9]{0,5})?")
"""A host and a port: no user, no path, no query."""
HARMLESS = ("GET", "HEAD", "OPTIONS")
"""The methods of requests that change nothing."""
OWN_SITE = ("same-origin", "none")
"""What browsers say of requests that our page sends, or that a person has typed."""


def check_host(request: Request, allowed: Collection[str]) -> None:
    """Raise `InvalidInput.host_unknown` unless the request is addressed to one of our names, or to an address.

    No other site can have an address for its name.
    """
    given = request.headers.getlist("host")
    host = _host_in(given[0]) if len(given) == 1 else ""
    if not is_address(host) and not _is_among(host, (*LOCAL_HOSTS, *allowed)):
        raise InvalidInput.host_unknown(host=host or ", ".join(given)[:128])


def check_site(request: Request, allowed: Collection[str]) -> None:
    """Raise `InvalidInput.other_site` for a request that changes something and comes from a page of another site."""
    if request.method in HARMLESS:
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        if site not in OWN_SITE:
            raise InvalidInput.other_site(site=(origin or site)[:128])
    elif origin is not None:
        scheme, _, named = origin.lower().partition("://")
        own = request.headers.get("host", "").lower()
        if not scheme or not _host_in(named) or (named != own and not _is_among(_host_in(named), allowed)):
            raise InvalidInput.other_site(site=origin[:128])


def is_address(host: str) -> bool:
    """Whether a host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _host_in(named: str) -> str:
    """The host in a header, without the port; empty unless it is a name or an address, and nothing else."""
    found = HOST.fullmatch(named)
    return found[1].strip("[]").rstrip(".").lower() if found else ""


def _is_among(host: str, allowed: Collection[str]) -> bool:
    """Whether a name is one of these; `*.example.com` is all names below."""
    return any(host == one.lower() or (one.startswith("*.") and host.endswith(one[1:].lower())) for one in allowed)

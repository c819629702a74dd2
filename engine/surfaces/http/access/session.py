"""The session of a browser: its token becomes a cookie that no script can read and no other site can send.

Belongs here: the handlers of `/v1/session`. Does not: whose a token is (`tokens`), which requests need one (`access`).
The page takes the token from the fragment of its address (`/#token=...`), which no server and no log ever sees.
"""

from typing import Any

from phaseline.engine.surfaces.http.access.access import COOKIE, token_of
from phaseline.engine.surfaces.http.access.caller import LOCAL
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.schemas.errors import InvalidInput

ATTRIBUTES = "Path=/; HttpOnly; SameSite=Strict"
LONGEST = 3_800
"""The most characters of a token in a cookie."""
MONTH = 30 * 24 * 3600
"""Seconds for which a browser keeps the token."""


async def who(call: Call) -> HttpAnswer:
    """Who asks, and what they may do."""
    return HttpAnswer(_shown(call), headers={"Cache-Control": "no-store"})


async def log_in(call: Call) -> HttpAnswer:
    """Make a cookie of the token in the header `Authorization`."""
    token = token_of(call.request)
    if not call.caller.roles:
        raise InvalidInput.no_token(
            problem="this token is not known here" if token else "there is no token to log in with"
        )
    if token is None or call.caller == LOCAL:  # whoever is known without a token needs no cookie
        return HttpAnswer(_shown(call), headers={"Cache-Control": "no-store"})
    if len(token) > LONGEST:
        raise InvalidInput.no_token(problem=f"this token has {len(token)} characters, a browser keeps {LONGEST}")
    secure = "; Secure" if call.request.headers.get("origin", "").startswith("https:") else ""
    cookie = f"{COOKIE}={token}; {ATTRIBUTES}; Max-Age={MONTH}{secure}"
    return HttpAnswer(_shown(call), headers={"Set-Cookie": cookie, "Cache-Control": "no-store"})


async def log_out(call: Call) -> HttpAnswer:  # noqa: ARG001  # the cookie goes, whoever asks
    """Let the browser forget its token."""
    headers = {"Set-Cookie": f"{COOKIE}=; {ATTRIBUTES}; Max-Age=0", "Cache-Control": "no-store"}
    return HttpAnswer({"name": None, "roles": []}, headers=headers)


def _shown(call: Call) -> dict[str, Any]:
    caller = call.caller
    return {
        "name": caller.name if caller.roles else None, "roles": sorted(filter(None, caller.roles)),
        "links": [one._asdict() for one in call.service.links],
        "trees": sorted(caller.trees), "published": sorted(caller.published), "sources": list(caller.sources),
    }  # fmt: skip

"""What `phaseline serve` answers about Acme's releases: `GET /v1/readiness/{release}`."""

from acme_kinds.reads import Acme
from phaseline.http import Call, HttpAnswer, Parameter, Route


async def readiness(call: Call) -> HttpAnswer:
    """Whether a release may start."""
    return HttpAnswer(await Acme(call.service.client).readiness(call.values["id"]))


RELEASE = Parameter("id", "the release", is_path=True, example="v2")
ROUTES = (Route("GET", "/v1/readiness/{id}", "getReadiness", readiness, "Whether a release may start.", (RELEASE,)),)

"""Errors as answers: problem+json (RFC 9457), with the sentence that the command prints.

Belongs here: the members of a problem. Does not: the errors and their statuses (`schemas.errors`), sending (`app`).
"""

from typing import Any

from phaseline.schemas.errors import PhaselineError, ServerBug

TYPE = "urn:phaseline:problem:"
"""What the types of problems begin with; the code of the error follows, such as `entity-unknown`."""
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = "1"
"""Seconds after which a request whose answer is 503 or 504 may be sent again."""


def problem(error: Exception, instance: str) -> dict[str, Any]:
    """The body that tells of an error. A bug says nothing about the inside of the server. instance: the request."""
    if not isinstance(error, PhaselineError):
        error = ServerBug()
    members = {name: value for name, value in error.details.items() if isinstance(value, str | int | float | None)}
    found = {
        **members, "type": TYPE + error.code, "title": error.code.replace("-", " "), "status": error.status,
        "detail": str(error), "instance": instance,
    }  # fmt: skip
    return found | ({"remedy": error.remedy} if error.remedy else {})

"""The errors that only requests by HTTP meet.

Belongs here: errors that `engine.http` raises and nobody else, as `engine.errors` has the others. Does not: their
statuses and how they are sent (`http.problems`).
"""

from phaseline.engine.errors import InvalidInput, NoAnswer, NotFound, PhaselineError


class StillLoading(NoAnswer):
    """the states are still being loaded ({entities} entities, place {place}): try again in a moment"""

    entities: int
    place: int


class PlaceAhead(NotFound):
    """place {place} of the log is not there yet, it ends at {last}: ask later, or with min={place} to wait for it"""

    place: int
    last: int


class PlaceTrimmed(NotFound):
    """place {place} is no longer in the log, which begins at {first}: read the states, and go on from their place"""

    place: int
    first: int


class NothingToRead(NotFound):
    """there is no rejection at place {place} in a tree that you may read"""

    place: int


class PathUnknown(NotFound):
    """there is nothing at {path}{meant}: /openapi.json lists what there is"""

    path: str
    meant: str


class MethodNotAllowed(InvalidInput):
    """{path} takes {allowed}, not {method}"""

    path: str
    method: str
    allowed: str


class BadParameter(InvalidInput):
    """parameter {name}: {problem}"""

    name: str
    problem: str


class OtherQuery(InvalidInput):
    """`continue` belongs to {what}: begin again without it"""

    what: str


class NoToken(InvalidInput):
    """{problem}: send `Authorization: Bearer TOKEN`, or log in on the page; `phaseline token` makes a token"""

    problem: str


class KeysUnread(NoAnswer):
    """the keys that verify tokens cannot be read from {keys} now: try again, and see this server's log"""

    keys: str


class TooManyEvents(InvalidInput):
    """{name} sends more than {rate:g} events per second: send this again in {seconds:.1f} s, and fewer at once"""

    name: str
    rate: float
    seconds: float


class TooManyStreams(InvalidInput):
    """{name} has {most} {what} of transitions open, and gets no more: close some, or let programs share one"""

    name: str
    what: str
    most: int


class ServerFull(NoAnswer):
    """there is no room for more {what} on this server: try again in a moment"""

    what: str


class NotAllowed(InvalidInput):
    """{name} may not do this, it needs the role {needed}: whoever runs the server gives roles (docs/http.md)"""

    name: str
    needed: str


class HostUnknown(InvalidInput):
    """requests to the host {host!r} are not answered here: if it is this server, start it with --allowed-host {host}"""

    host: str


class OtherSite(InvalidInput):
    """refused, because a page of another site ({site}) sent it: only this server's own page may change something"""

    site: str


class BodyTooLarge(InvalidInput):
    """the body has more than {limit} bytes: send less at once"""

    limit: int


class BodyCut(InvalidInput):
    """the body ended before it was complete"""


class MediaTypeUnknown(InvalidInput):
    """{problem}"""

    problem: str


class BadHeader(InvalidInput):
    """header {name}: {problem}"""

    name: str
    problem: str


class KeysDiffer(InvalidInput):
    """the header Idempotency-Key says {key!r}, the event has the id {event!r}: leave one of them out"""

    key: str
    event: str


class BadBody(InvalidInput):
    """the body: {problem}"""

    problem: str


class EventRejected(InvalidInput):
    """event {sequence} was rejected as {reason}: {message}"""

    sequence: int
    place: int
    reason: str
    message: str


class NotSent(NoAnswer):
    """not sent, because event {before!r} of the same tree before it was not stored: send both again"""

    before: str


class ServerBug(PhaselineError):
    """an error in phaseline: its log has the details, please report it"""

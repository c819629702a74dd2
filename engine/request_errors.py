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


class ServerBug(PhaselineError):
    """an error in phaseline: its log has the details, please report it"""

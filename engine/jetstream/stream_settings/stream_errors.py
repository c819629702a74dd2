"""The errors of changing streams.

Belongs here: what cannot be changed, what the server refuses, copies that are late. Does not: streams with which no
worker can work (`engine.setup_errors`).
"""

from phaseline.engine.errors import NoAnswer, SetupError


class StreamFixed(SetupError):
    """nothing was changed: {setting} of {stream} cannot change from {found} to {wanted}; {way_out}"""

    stream: str
    setting: str
    found: str
    wanted: str
    way_out: str


class EventsNeeded(SetupError):
    """nothing was changed: with a max age of {age}, {stream} would delete {events}; {way_out}, or add --drop-events"""

    stream: str
    age: str
    events: str
    way_out: str


class StreamUnchanged(SetupError):
    """NATS refuses to change {settings} of {stream}: {problem}; streams that are listed before it are changed"""

    stream: str
    settings: str
    problem: str


class CopiesLate(NoAnswer):
    """{stream} is changed, but its copies on {late} have not moved for {seconds:g} s: are these servers running?"""

    stream: str
    late: str
    seconds: float

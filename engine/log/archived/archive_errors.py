"""The errors about archives of a log: reading them, making them, and what is no longer in the log without them.

Belongs here: these errors, as `engine.errors` has the others. Does not: what to do about them (`engine.error_help`).
"""

from phaseline.engine.errors import InvalidInput, NoAnswer, NotFound


class NotInLog(NotFound):
    """{moment} is before place {place} of the log, {until}: it is in archive {archive}, name its folder by --archive"""

    moment: str
    place: int
    until: str
    archive: str


class BadArchive(InvalidInput):
    """archive {name}: {problem}"""

    name: str
    problem: str


class ArchivedMeanwhile(NoAnswer):
    """while the log was read, it was moved to archive {archive} up to place {place}: try again"""

    archive: str
    place: int


class CopyBehind(NoAnswer):
    """stream {stream} has copied {copied} of {wanted}, and the rest must not be trimmed before: try again"""

    stream: str
    copied: int
    wanted: int

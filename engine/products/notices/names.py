"""The installation of notices about another one, and what its events are named.

Belongs here: its settings, the source of the notifier's events, ids of its own notices. Does not: the kinds
(`kinds.notices`), connections.
"""

from dataclasses import replace

from phaseline.engine.settings import Settings
from phaseline.machines.built_in import OF_NOTICES
from phaseline.schemas.errors import InvalidInput

SOURCE = "/phaseline/notifier"
"""The source of all notifiers of an installation: what two of them say of one place counts once."""
OWN = "_notices"
"""In place of a rule: of notices about notifier and receivers. No rule can have this name."""


def of_notices(settings: Settings) -> Settings:
    """The settings of the installation of notices about that of `settings`; raises `InvalidInput.bad_parameter`."""
    if settings.prefix.endswith(OF_NOTICES):
        problem = f"{settings.prefix} is an installation of notices: name the one that they are about"
        raise InvalidInput.bad_parameter(name="prefix", problem=problem)
    return replace(settings, prefix=f"{settings.prefix}{OF_NOTICES}", archive=None, partitions=None, accept_tables="",
                   accept_stranded="", accept_loss=False, feed=None, silence_after=0.0)  # fmt: skip

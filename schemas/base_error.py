"""The bases of the errors that users see which code below the engine needs.

Belongs here: `PhaselineError` and `SetupError`. Does not: the errors themselves (`engine.errors`; of libraries,
`libraries`).
"""

import inspect
from typing import dataclass_transform


@dataclass_transform(kw_only_default=True, eq_default=False)
class PhaselineError(Exception):
    """Phaseline cannot go on.

    The first paragraph of a subclass's docstring is its message. Names in braces are attributes of the error, which its
    class declares.
    """

    def __init__(self, **attributes: object) -> None:
        super().__init__()
        vars(self).update(attributes)

    def __str__(self) -> str:
        template = inspect.cleandoc(type(self).__doc__ or "").partition("\n\n")[0]
        try:
            return template.format_map(vars(self))
        except (KeyError, ValueError, TypeError):  # made without its attributes, which must not hide the error itself
            return template

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class SetupError(PhaselineError):
    """the installation, the NATS server or what is installed here must be changed"""  # noqa: D400, D415  # the message

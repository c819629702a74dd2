"""What a command says where the account of its user lacks a right.

Belongs here: telling a part of the API that an account does not import from one that nobody serves. Does not: the roles
(`phaseline.engine.accounts.roles`), what the server itself refuses (`engine.jetstream.wire`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from phaseline.engine.jetstream.wire import Wire
from phaseline.schemas.errors import NoResponders, NotPermitted


@contextmanager
def of_operators(wire: Wire) -> Iterator[None]:
    """For what operators may and readers may not: their account imports a part of the API, so nobody answers."""
    try:
        yield
    except NoResponders as error:
        if wire.has_consumers:
            raise
        raise NotPermitted(subject=error.subject, violation="", who_may="; the role operator may") from error

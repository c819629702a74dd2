"""What a first connection that failed is told, by the server's words.

Belongs here: refusals that are none. Does not: real servers (`test_tls`, `test_failures`).
"""

import pytest

from phaseline.engine.errors import NatsUnreachable, PhaselineError, UserRefused
from phaseline.engine.jetstream.connect_failures import first_failure
from phaseline.engine.settings import Settings


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("nats: 'Authorization Violation'", UserRefused),
        ("nats: 'User Authentication Expired'", UserRefused),
        ("nats: 'Authentication Timeout'", NatsUnreachable),
    ],
)
def test_only_a_refusal_blames_the_user(said: str, error: type[PhaselineError]) -> None:
    settings = Settings(nats=("nats://c1:secret@here:4222",))
    assert type(first_failure(settings, ConnectionError(said))) is error

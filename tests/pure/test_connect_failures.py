"""What a first connection that failed is told, by the server's words.

Belongs here: refusals that are none, and refusals without words. Does not: real servers (`test_tls`, `test_failures`).
"""

from pathlib import Path

import pytest

from phaseline.engine.nats.connect_failures import first_failure
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import NatsUnreachable, SetupError


@pytest.mark.parametrize("given", [{}, {"tls_cert": Path(__file__), "tls_key": Path(__file__)}])
def test_a_server_that_hangs_up_during_the_handshake_wants_another_certificate(given: dict[str, Path]) -> None:
    """The end of the connection can overtake the alert that says so."""
    settings = Settings(nats=("tls://here:4222",), **given)  # type: ignore[arg-type]  # paths only
    found = first_failure(settings, ConnectionResetError(104, "Connection reset by peer"))
    assert SetupError.tls_failed.made(found)
    assert ("tls_cert: give another one" in str(found)) is bool(given)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("nats: 'Authorization Violation'", SetupError.user_refused.code),
        ("nats: 'User Authentication Expired'", SetupError.user_refused.code),
        ("nats: 'Authentication Timeout'", NatsUnreachable.code),
    ],
)
def test_only_a_refusal_blames_the_user(said: str, code: str) -> None:
    settings = Settings(nats=("nats://c1:secret@here:4222",))
    assert first_failure(settings, ConnectionError(said)).code == code

"""The signature of a body: HMAC-SHA256 under a secret, in hexadecimal, as GitHub and others sign webhooks.

Belongs here: making and checking one.
"""

import hashlib
import hmac

HEADER = "X-Hub-Signature-256"
PREFIX = "sha256="


def signature(secret: bytes, body: bytes) -> str:
    """The value of the header `HEADER` for a body."""
    return PREFIX + hmac.new(secret, body, hashlib.sha256).hexdigest()


def is_signed(given: str, secret: bytes, body: bytes) -> bool:
    """Whether a value of the header is the signature of the body. The prefix may be missing."""
    wanted = signature(secret, body).removeprefix(PREFIX).encode()
    return hmac.compare_digest(given.removeprefix(PREFIX).lower().encode(errors="replace"), wanted)

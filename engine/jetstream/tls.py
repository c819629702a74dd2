"""TLS as the settings ask for it.

Belongs here: the context of a connection. Does not: whether TLS is wanted (`settings`).
"""

import ssl

from phaseline.engine.settings import Settings


def context_of(settings: Settings) -> ssl.SSLContext:
    """Whom to trust, and what to show."""
    context = ssl.create_default_context(cafile=None if settings.tls_ca is None else str(settings.tls_ca))
    if settings.tls_cert is not None:
        context.load_cert_chain(str(settings.tls_cert), None if settings.tls_key is None else str(settings.tls_key))
    return context

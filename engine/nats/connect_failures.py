"""Why a connection to NATS fails, in words: what is wrong, and what to do.

Belongs here: errors made of what nats-py and Python's TLS report; files of a user or of TLS that cannot be used. Does
not: connecting (`connection`).
"""

import re
import socket
import ssl
from pathlib import Path
from urllib.parse import unquote, urlsplit

from phaseline.engine.nats.nats_library import errors as nats_errors
from phaseline.engine.settings import Settings
from phaseline.schemas.errors import BadSetting, NatsUnreachable, PhaselineError, SetupError

NO_TLS = "TLS was asked for and this server does not offer it: refusing to talk in clear"
TLS = (
    #  words of the error       what is wrong, and what to do
    ("local issuer",            "no trusted authority signed the server's certificate: give the right tls_ca"),
    ("self-signed",             "no trusted authority signed the server's certificate: give the right tls_ca"),
    ("mismatch",                "the server's certificate is for another host: connect by a name that it holds"),
    ("alert certificate exp",   "the certificate of tls_cert has expired: renew it"),
    ("expired",                 "the server's certificate has expired: renew it, or set the clock of this machine"),
    ("not yet valid",           "the server's certificate is not valid yet: do the clocks agree?"),
    ("certificate required",    "the server wants a certificate of its clients: give tls_cert and tls_key"),
    ("bad certificate",         "the server wants another certificate of its clients than tls_cert"),
    ("unknown ca",              "the server does not trust the authority of tls_cert: give another certificate"),
    (NO_TLS.lower(),            f"{NO_TLS}; leave out tls_ca and tls://, or let the server use TLS"),
)  # fmt: skip
"""By words of the error of TLS. The first entry that fits is taken."""
HUNG_UP = (ConnectionResetError, BrokenPipeError, nats_errors.UnexpectedEOF)
"""How a connection ends that the server closes. The end can overtake the words that say why."""
NO_CERTIFICATE = (
    "the server closed the connection during the handshake, perhaps because it wants a certificate of its clients: "
    "give tls_cert and tls_key"
)
OTHER_CERTIFICATE = (
    "the server closed the connection during the handshake, perhaps because it does not accept the certificate of "
    "tls_cert: give another one"
)
CAUSES = (
    ("[errno 111]",             "nothing listens there"),
    ("connection refused",      "nothing listens there"),
    ("[errno 113]",             "there is no way to this host"),
    ("[errno 101]",             "there is no way to this network"),
    ("not known",               "there is no host of this name"),
    ("expecting info",          "what listens there is no NATS server"),
    ("maximum connections",     "the server takes no more connections"),
    ("timeout",                 "what listens there does not answer"),
)  # fmt: skip
"""By words of another error of a connection."""
REFUSED = ("authorization", "authentication")
"""Words with which the server refuses a user."""
TOO_LATE = "authentication timeout"
"""What the server says to a client that was too slow to name its user."""
EXPIRED = (("expired", "the credentials have expired"), ("revoked", "the credentials were revoked"))
SEED = re.compile(rb"\s*SU[A-Z2-7]{56}\s*")
PARTS = (b"BEGIN NATS USER JWT", b"BEGIN USER NKEY SEED")


def text_of(error: Exception) -> str:
    """An error of a connection in words for people."""
    said = str(error) or ("timeout" if isinstance(error, TimeoutError) else type(error).__name__)
    lowered = said.lower()
    if isinstance(error, socket.gaierror):
        return "there is no host of this name"
    found = next((text for words, text in CAUSES if words in lowered), None)
    if found is None and _is_tls(error, lowered):
        found = _tls_problem(error, lowered)
    return found or said.removeprefix("nats: ").strip("'")


def first_failure(settings: Settings, error: Exception) -> PhaselineError:
    """The error for a first connection that failed with `error`."""
    lowered = str(error).lower()
    if is_refusal(lowered):
        return _refusal(settings, lowered)
    if _is_tls(error, lowered):
        return SetupError.tls_failed(url=settings.shown, problem=_tls_problem(error, lowered))
    if isinstance(error, HUNG_UP) and settings.wants_tls:
        problem = NO_CERTIFICATE if settings.tls_cert is None else OTHER_CERTIFICATE
        return SetupError.tls_failed(url=settings.shown, problem=problem)
    return NatsUnreachable(url=settings.shown, cause=text_of(error))


def is_refusal(said: str) -> bool:
    """Whether the server refuses the user, by its words. One that waited too long for the user says something else."""
    return TOO_LATE not in said.lower() and any(word in said.lower() for word in REFUSED)


def _is_tls(error: Exception, lowered: str) -> bool:
    return isinstance(error, ssl.SSLError) or lowered == NO_TLS.lower()


def _tls_problem(error: Exception, lowered: str) -> str:
    found = next((text for words, text in TLS if words in lowered.replace("_", " ")), None)
    reason = str(getattr(error, "reason", None) or lowered).replace("_", " ").lower()
    return found or f"{reason}: do both sides use TLS?"


def _refusal(settings: Settings, lowered: str) -> SetupError:
    who, why = _user_of(settings)
    why = next((text for words, text in EXPIRED if words in lowered), why)
    return SetupError.user_refused(url=settings.shown, who=who, problem=why)


def _user_of(settings: Settings) -> tuple[str, str]:
    """The user of a connection, and why a server refuses such a user."""
    url = settings.nats[0]
    parts = urlsplit(url if "://" in url else f"nats://{url}")
    if settings.creds is not None:
        return f"the credentials {settings.creds}", "it does not accept them"
    if settings.nkey is not None:
        return f"the key {settings.nkey}", "it does not know this key"
    if parts.password is not None:
        return f"the user {unquote(parts.username or '')!r}", "the name or the password is wrong"
    if parts.username is not None:
        return "the token of the URL", "it is wrong"
    return "a user without a name", "it takes only users that it knows"


def check_user_files(settings: Settings) -> None:
    """Raise `BadSetting` unless the files of the user hold what they should."""
    if settings.nkey is not None and not SEED.fullmatch(_read("nkey", settings.nkey)):
        raise BadSetting(name="nkey", problem=f"{settings.nkey} holds no seed of a user, which begins with SU")
    if settings.creds is not None:
        found = _read("creds", settings.creds)
        if any(part not in found for part in PARTS):
            raise BadSetting(name="creds", problem=f"{settings.creds} does not hold a user's JWT and seed")


def _read(name: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadSetting(name=name, problem=f"{path} cannot be read: {error.strerror}") from None


def tls_context(settings: Settings) -> "ssl.SSLContext":
    """The TLS context of a connection: the trusted authorities, and our certificate if the settings name one.

    Raises `BadSetting` if a file does not hold what it should.
    """
    try:
        context = ssl.create_default_context(cafile=None if settings.tls_ca is None else str(settings.tls_ca))
    except (ssl.SSLError, OSError) as error:
        raise BadSetting(name="tls_ca", problem=_unusable(settings.tls_ca, "certificates", error)) from None
    if settings.tls_cert is not None:
        try:
            context.load_cert_chain(settings.tls_cert, settings.tls_key, password="")  # so nobody is asked
        except (ssl.SSLError, OSError) as error:
            pair = f"{settings.tls_cert} and {settings.tls_key}"
            raise BadSetting(name="tls_cert", problem=_unusable(pair, "a certificate and its key", error)) from None
    return context


def _unusable(where: Path | str | None, what: str, error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"{where} must hold {what}, in PEM format and without a password"
    return f"{where} cannot be read: {error.strerror}"

"""Tokens that an identity provider has signed: JWTs, verified by its published keys (JWKS).

Belongs here: `Jwts`: the keys, when they are read again, what a token must say, its roles. Does not: our own tokens
(`tokens`), where a request has its token (`access`). The only importer of `jwt`.

Only public keys are taken, and only for the algorithms of their own type. So nobody can sign with a public key as if it
were a secret, and a token without a signature is none.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import jwt

from phaseline.engine import logs, outgoing, regular_files
from phaseline.engine.surfaces.http.access import origin
from phaseline.engine.surfaces.http.access.caller import ROLES, SOURCE, BadRole, Caller, named, with_roles
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, InvalidInput, NoAnswer

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.access.access import JwtSettings

ALGORITHMS = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""The algorithms that are taken, by the type of the key."""
LEEWAY = 30
"""Seconds by which the clocks of the provider and of this machine may differ."""
LARGEST = 1 << 20
"""The most bytes of a set of keys."""
MOST_KEYS = 100
"""The most keys of a set: a token without `kid` is checked with each of its type."""
LEAST_BITS = 2_048
"""The fewest bits of an RSA key: signatures of shorter ones can be forged."""
NAMELESS = "the token names nobody: its claim `{claim}` is missing, or an address that was not confirmed"
LONGEST = 16_384
"""The most characters of a token."""

log = logs.get_logger(__name__)


class Jwts:
    """Verifies tokens. The keys are read when the first token comes."""

    def __init__(self, settings: "JwtSettings") -> None:
        """Raises `BadSetting` for keys that somebody on the way could replace, and for what is left out."""
        _check(settings)
        self._settings, self._given = settings, _roles_of_words(settings.given)
        self._keys: list[dict[str, Any]] = []
        self._read_at = self._tried_at = -float("inf")
        self._reading = asyncio.Lock()
        self._again: asyncio.Task[None] | None = None

    async def caller(self, token: str) -> Caller:
        """Whose token it is; raises `InvalidInput.no_token`, `NoAnswer.keys_unread`."""
        try:
            if len(token) > LONGEST:
                raise jwt.DecodeError
            head = jwt.get_unverified_header(token)
            return _caller(self._verified(token, head, await self._fitting(head)), self._settings, self._given)
        except jwt.ExpiredSignatureError:
            raise InvalidInput.no_token(problem="this token has expired") from None
        except jwt.ImmatureSignatureError:
            raise InvalidInput.no_token(problem="this token is not valid yet") from None
        except jwt.InvalidAudienceError:
            raise InvalidInput.no_token(problem="this token is for another audience") from None
        except jwt.InvalidIssuerError:
            raise InvalidInput.no_token(problem="this token is from another issuer") from None
        except jwt.MissingRequiredClaimError as error:
            raise InvalidInput.no_token(problem=f"this token lacks the claim {error.claim}") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise InvalidInput.no_token(problem="the signature of this token is not valid here") from None

    def _verified(self, token: str, head: Mapping[str, Any], keys: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The claims of a token that one of these keys has signed."""
        for key in filter(None, (_usable(key, head["alg"]) for key in keys)):
            with suppress(jwt.InvalidSignatureError, jwt.InvalidKeyError):
                return jwt.decode(
                    token, key, algorithms=[head["alg"]], audience=self._settings.audience,
                    issuer=self._settings.issuer, leeway=LEEWAY, options={"require": ["exp", "iss", "aud"]},
                )  # fmt: skip
        raise jwt.InvalidSignatureError

    async def _fitting(self, head: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The keys that can have signed a token. They are read again if none does, for keys change."""
        if not self._keys:
            await self._read()
        elif time.monotonic() - self._read_at > self._settings.pace.kept and not self._reading.locked():
            self._again = asyncio.create_task(self._read())  # nobody waits: the keys that are known count meanwhile
        found = self._among(head)
        if not found:
            await self._read()
            found = self._among(head)
        return found

    def _among(self, head: Mapping[str, Any]) -> list[dict[str, Any]]:
        algorithm, name = head.get("alg"), head.get("kid")
        return [
            key for key in self._keys
            if algorithm in ALGORITHMS.get(str(key.get("kty")), ()) and key.get("alg", algorithm) == algorithm
            and key.get("use", "sig") == "sig" and (name is None or key.get("kid", name) == name)
        ]  # fmt: skip

    async def _read(self) -> None:
        """Read the keys, but not again and again; those that are known stay if that fails. Raises `NoAnswer`."""
        async with self._reading:
            if time.monotonic() - self._tried_at > self._settings.pace.soon:
                self._tried_at = time.monotonic()
                try:
                    self._keys = await asyncio.to_thread(_keys_at, self._settings.keys, self._settings.pace.patience)
                    self._read_at = time.monotonic()
                except (OSError, HTTPException, ValueError, TypeError, LookupError) as error:
                    log.warning("jwks_unreadable", keys=shown(self._settings.keys), error=self._problem(error))
            if not self._keys:
                raise NoAnswer.keys_unread(keys=shown(self._settings.keys))

    def _problem(self, error: BaseException) -> str:
        url = urlsplit(self._settings.keys)
        words = [word for _, word in parse_qsl(url.query)]
        return outgoing.problem(error, [url.username or "", url.password or "", url.query, *words])


def _check(settings: "JwtSettings") -> None:
    if not settings.issuer or not settings.audience:
        problem = "give --jwt-issuer and --jwt-audience too: a token for another service is none for this one"
        raise BadSetting(name="jwks", problem=problem)
    url = urlsplit(settings.keys)
    if url.scheme == "http" and not origin.is_loopback(url.hostname or ""):
        raise BadSetting(name="jwks", problem=f"must be an https URL or a file, found {shown(settings.keys)[:128]!r}")
    if url.scheme not in ("http", "https") and not Path(settings.keys).is_file():
        problem = f"there is no file {shown(settings.keys)[:128]!r}, and it is no https URL"
        raise BadSetting(name="jwks", problem=problem)


def _usable(key: dict[str, Any], algorithm: str) -> jwt.PyJWK | None:
    """A key that can check signatures of this algorithm; None for one that is broken, short, or of another curve."""
    try:
        found = jwt.PyJWK(key, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, LookupError):
        return None
    return None if key.get("kty") == "RSA" and found.key.key_size < LEAST_BITS else found


def shown(where: str) -> str:
    """The place of the keys as errors and logs name it: without a user, a password or a query."""
    url = urlsplit(where)
    return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], url.path, "", "")) if url.netloc else where


def _keys_at(where: str, patience: float) -> list[dict[str, Any]]:
    """The keys at a URL or in a file. Raises `OSError`, `HTTPException`, `ValueError`, `TypeError`, `LookupError`."""
    if urlsplit(where).scheme in ("http", "https"):
        body = outgoing.fetch(where, LARGEST, patience, lambda url: _may_replace(url, where))
    else:
        path = Path(where).resolve()
        body = regular_files.read(path.parent, path.name, LARGEST)
    found = [key for key in codec.decode_text(body)["keys"] if isinstance(key, dict)]
    if len(found) > MOST_KEYS:
        raise ValueError(f"it holds {len(found):,} keys, more than {MOST_KEYS}")
    return found


def _may_replace(url: str, where: str) -> bool:
    """Whether keys may come from a URL to which that of the keys redirects: nobody on the way can replace them."""
    if urlsplit(url).scheme == "https":
        return True
    return all(
        urlsplit(one).scheme == "http" and origin.is_loopback(urlsplit(one).hostname or "") for one in (url, where)
    )


def _caller(claims: Mapping[str, Any], settings: "JwtSettings", given: Mapping[str, Sequence[str]]) -> Caller:
    """Whose claims they are. Roles of other services are left out."""
    found: Any = claims
    for part in settings.claim.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    words = found.split() if isinstance(found, str) else found if isinstance(found, list) else []
    texts = [word for word in words if isinstance(word, str)]
    roles = [role for word in texts for role in given.get(word, ())] if given else texts
    until, who = float(claims["exp"]) + LEEWAY, _user(claims, settings.user)
    sources = [word for word in roles if word.startswith(SOURCE)]
    known = [word for word in roles if _is_role(word)]
    name = who or "somebody"
    try:
        # A limit that cannot be read must not become no limit.
        caller = with_roles(name, [*known, *sources], until) if known else Caller(name, frozenset(), until=until)
    except BadRole:
        caller = Caller(name, frozenset(), until=until)
    return named(caller) if who else replace(caller, nameless=NAMELESS.format(claim=settings.user))


def _user(claims: Mapping[str, Any], claim: str) -> str:
    """Who the token names; empty if nobody. An address that its owner never confirmed names nobody."""
    found = claims.get(claim) or (claims.get("client_id") if claim == "sub" else None)
    if claim == "email" and claims.get("email_verified") is False:
        return ""
    return found if isinstance(found, str) else ""


def _roles_of_words(given: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The roles that words stand for, by word; raises `BadSetting`."""
    found = dict[str, list[str]]()
    for text in given:
        word, _, role = text.rpartition("=")
        if not word or not (_is_role(role) or role.startswith(SOURCE)):
            raise BadSetting(name="jwt_role", problem=f"{text[:64]!r} is not WORD=ROLE; roles are {ROLES}")
        found.setdefault(word, []).append(role)
    return found


def _is_role(word: str) -> bool:
    try:
        with_roles("", [word])
    except BadRole:
        return False
    return True

"""The step through which each request passes before it is answered: the host it names, who asks, what they may.

Belongs here: `Access` and its settings, the session of a browser, the headers of every answer. Does not: what a request
needs (`http.routes`), answering it.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request

from phaseline.engine.surfaces.http.access import origin
from phaseline.engine.surfaces.http.access.budgets import RATE, Budgets
from phaseline.engine.surfaces.http.access.caller import LOCAL, NOBODY, READ, BadRole, Caller, Role, named, with_roles
from phaseline.engine.surfaces.http.access.tokens import LOOK, Tokens
from phaseline.schemas import libraries
from phaseline.schemas.errors import BadSetting, InvalidInput, NoAnswer, PhaselineError

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.access.jwts import Jwts

COOKIE = "phaseline"
"""The cookie of a browser that has logged in: its token."""
PROBES = ("/livez", "/readyz")
"""Whoever looks after the process asks these by whatever name it has, and learns no more by a name that is not ours."""
BEARER = "bearer "
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class KeyPace(NamedTuple):
    """How often the keys of a provider are read. Times are in seconds."""

    kept: float = 600.0
    """After so long they are read again."""
    soon: float = 10.0
    """After so long they may be because a token names an unknown key."""
    patience: float = 5.0
    """So long reading them may take."""


KEY_PACE = KeyPace()


@dataclass(frozen=True, slots=True)
class JwtSettings:
    """What a provider's token must say. keys: the URL or file of its JWKS. claim: where the roles are, as in `a.b`.

    user: the claim that names the user. given: `WORD=ROLE`: the roles that words of the claim stand for; without any,
    the words are the roles. pace: how often the keys are read.
    """

    keys: str
    issuer: str
    audience: str
    claim: str = "roles"
    user: str = "sub"
    given: tuple[str, ...] = ()
    pace: KeyPace = KEY_PACE


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Who is let in. tokens: the file. hosts: names of the server beside `localhost` and its addresses.

    proxies: the addresses of proxies that say in the header `user_header` who asks; user_roles: what such users may.
    jwt: what a provider's tokens must say. rate: how many events per second each caller may send; 0: any number.
    look: seconds between two looks whether the file of tokens has changed.
    """

    tokens: Path | None = None
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    user_header: str | None = None
    user_roles: tuple[str, ...] = (READ,)
    jwt: JwtSettings | None = None
    rate: float = RATE
    look: float = LOOK


class Access:
    """Finds out who asks. Without tokens and proxies everybody may do everything who reaches the server."""

    headers: Mapping[str, str] = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    """Headers of every answer."""

    def __init__(self, settings: AccessSettings | None = None) -> None:
        """Raises `BadSetting`."""
        given = settings or AccessSettings()
        self._hosts, self._header = given.hosts, given.user_header
        self._tokens = None if given.tokens is None else Tokens(given.tokens, given.look)
        self._jwts = None if given.jwt is None else _jwts(given.jwt)
        self._proxies = tuple(map(_network, given.proxies))
        self.budgets = Budgets(given.rate)
        if bool(given.proxies) != bool(given.user_header):
            raise BadSetting(name="trusted_proxy", problem="give --trusted-proxy and --user-header, or none of them")
        try:
            with_roles("user", given.user_roles)
        except BadRole as error:
            raise BadSetting(name="user_role", problem=str(error)) from None
        self._user_roles = given.user_roles

    @property
    def is_asked(self) -> bool:
        """Whether callers must say who they are."""
        return self._tokens is not None or self._jwts is not None or bool(self._proxies)

    def cached(self, how: str) -> str:
        """The `Cache-Control` of an answer. Caches that callers share must not keep what one of them may read."""
        return f"private, {how}" if self.is_asked else how

    @property
    def varying(self) -> str:
        """The `Vary` of an answer: another caller may get another one."""
        named = ("Authorization", "Cookie", *(() if self._header is None else (self._header,))) if self.is_asked else ()
        return ", ".join(("Accept-Encoding", *named))

    def check_listen(self, host: str) -> None:
        """Raise `BadSetting` if other machines could reach a server that lets everybody do everything."""
        if not self.is_asked and not origin.is_loopback(host):
            maker = "`phaseline admin token` makes one"
            ways = f"give --tokens FILE ({maker}), --jwks, or --trusted-proxy and --user-header"
            raise BadSetting(
                name="listen", problem=f"other machines can reach {host}, so callers must be known: {ways}"
            )

    async def admit(self, request: Request, role: Role) -> Caller:
        """Who asks; raises one of our errors if they may not. role: what the request needs."""
        try:
            origin.check_host(request, self._hosts)
        except InvalidInput:
            if request.scope["path"] in PROBES:
                return NOBODY
            raise
        origin.check_site(request, self._hosts)
        if not self.is_asked:
            return LOCAL
        caller = self._proxied(request) or await self._with_token(request, is_needed=bool(role))
        caller.check(role)
        return caller

    def _apart(self, caller: Caller) -> Caller:
        """A caller whom others name: not recorded under the name of a token, which somebody else may have."""
        if self._tokens is None or not self._tokens.has_name(caller.name):
            return caller
        return replace(caller, actor="", nameless=f"a token of this server has the name {caller.name!r}")

    async def _with_token(self, request: Request, *, is_needed: bool) -> Caller:
        try:
            return await self._whose(token_of(request))
        except PhaselineError as error:
            if is_needed or not (InvalidInput.no_token.made(error) or NoAnswer.keys_unread.made(error)):
                raise
            return NOBODY

    async def _whose(self, token: str | None) -> Caller:
        """Whose token it is; raises `InvalidInput.no_token`, `NoAnswer.keys_unread`."""
        if token is None:
            raise InvalidInput.no_token(problem="this server wants a token")
        caller = None if self._tokens is None else self._tokens.caller(token)
        if self._tokens is not None and caller is not None:
            return replace(caller, is_known=partial(self._tokens.is_of, token, caller))
        if caller is None and self._jwts is not None and token.count(".") == 2:
            return self._apart(await self._jwts.caller(token))
        if caller is None:
            raise InvalidInput.no_token(problem="this token is not known here")
        return caller

    def _proxied(self, request: Request) -> Caller | None:
        """The user that a trusted proxy names."""
        if self._header is None or request.client is None or not origin.is_address(request.client.host):
            return None
        address = ipaddress.ip_address(request.client.host)
        users = request.headers.getlist(self._header)
        if len(users) != 1 or not users[0] or not any(address in network for network in self._proxies):
            return None
        return self._apart(named(with_roles(_utf8(users[0]), self._user_roles)))


def _jwts(settings: JwtSettings) -> "Jwts":
    libraries.require("jwt", "verifying JWTs")
    from phaseline.engine.surfaces.http.access.jwts import Jwts  # noqa: PLC0415  # it needs the library

    return Jwts(settings)


def _utf8(value: str) -> str:
    """The text of a header, which Starlette reads as Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


def token_of(request: Request) -> str | None:
    """The token of a request: in its header, or in the cookie of a browser that has logged in."""
    given = request.headers.get("authorization", "")
    if given[: len(BEARER)].lower() == BEARER:
        return given[len(BEARER) :].strip()
    return request.cookies.get(COOKIE)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise BadSetting(name="trusted_proxy", problem=f"{text[:64]!r} is no address or network: {error}") from None

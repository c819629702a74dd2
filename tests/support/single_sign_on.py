"""A small identity provider, and a proxy that logs people in there and does what `oauth2-proxy.cfg` says.

Belongs here: the flow of OpenID Connect with a code and PKCE, which headers the proxy passes on. Does not: what the
gateway makes of them (the tests). It plays oauth2-proxy, which no registry of packages has.
"""

import asyncio
import base64
import hashlib
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx2
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.patience import wait_for

STRIPPED = ("authorization", "x-forwarded-user", "x-forwarded-email", "x-forwarded-groups")
"""Headers that the proxy sets, and so takes away from what it receives."""


class Provider:
    """Knows one person at a time, who is logged in there already: the claims in `person`."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self._key, self._codes = ec.generate_private_key(ec.SECP256R1()), dict[str, dict[str, str]]()
        self.url = ""

    def routes(self) -> list[Route]:
        return [
            Route("/.well-known/openid-configuration", self._described), Route("/keys", self._keys),
            Route("/auth", self._log_in), Route("/token", self._token, methods=["POST"]),
        ]  # fmt: skip

    async def _described(self, _: Request) -> Response:
        places = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
        return JSONResponse({"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in places.items()}})

    async def _keys(self, _: Request) -> Response:
        key = jwt.get_algorithm_by_name("ES256").to_jwk(self._key.public_key(), as_dict=True)
        return JSONResponse({"keys": [{"kid": "one", "use": "sig", **key}]})

    async def _log_in(self, request: Request) -> Response:
        code, asked = secrets.token_hex(8), dict(request.query_params)
        assert asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        self._codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def _token(self, request: Request) -> Response:
        given = dict([part.split("=", 1) for part in (await request.body()).decode().split("&")])
        asked = self._codes.pop(given["code"])
        digest = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).decode().rstrip("=")
        assert (asked["code_challenge"], asked["code_challenge_method"]) == (digest, "S256")
        return JSONResponse({"id_token": self.signed(asked["client_id"])})

    def signed(self, audience: str, **claims: Any) -> str:
        """An ID token of the person."""
        said = {"iss": self.url, "aud": audience, "exp": time.time() + 60, **self.person, **claims}
        return jwt.encode(said, self._key, "ES256", headers={"kid": "one"})


class Proxy:
    """Does what a configuration of oauth2-proxy says, with what stands in front of `upstreams` in place of these."""

    def __init__(self, config: dict[str, Any], provider: Provider, upstream: str) -> None:
        self.config, self._provider = config, provider
        self.http = httpx2.AsyncClient(base_url=upstream, timeout=60, trust_env=False)
        self._sessions, self._waiting = dict[str, str](), dict[str, tuple[str, str]]()
        self.url = ""

    def routes(self) -> list[Route]:
        every = ["GET", "POST", "DELETE", "OPTIONS"]
        return [Route("/oauth2/callback", self._callback), Route("/{path:path}", self._passed, methods=every)]

    async def _callback(self, request: Request) -> Response:
        verifier, wanted = self._waiting.pop(request.query_params["state"])
        form = f"grant_type=authorization_code&code={request.query_params['code']}&code_verifier={verifier}"
        async with httpx2.AsyncClient(base_url=self._provider.url, trust_env=False) as http:
            token = (await http.post("/token", content=form)).json()["id_token"]
        session = secrets.token_hex(8)
        self._sessions[session] = token
        answer = RedirectResponse(wanted)
        answer.set_cookie("session", session, httponly=True, samesite=self.config["cookie_samesite"])
        return answer

    async def _passed(self, request: Request) -> Response:
        token = self._sessions.get(request.cookies.get("session", ""))
        if token is None:
            is_api = any(re.search(one, request.url.path) for one in self.config["api_routes"])
            return Response(status_code=401) if is_api else self._to_provider(request)
        assert self.config["skip_auth_strip_headers"]
        headers = [(name, value) for name, value in request.headers.items() if name not in (*STRIPPED, "cookie")]
        if self.config["pass_authorization_header"]:
            headers.append(("authorization", f"Bearer {token}"))
        asked = self.http.build_request(
            request.method, f"{request.url.path}?{request.url.query}", headers=headers, content=await request.body()
        )
        found = await self.http.send(asked, stream=True)
        return StreamingResponse(found.aiter_raw(), found.status_code, found.headers, None,
                                 BackgroundTask(found.aclose))  # fmt: skip

    def _to_provider(self, request: Request) -> Response:
        state, verifier = secrets.token_hex(8), secrets.token_hex(32)
        self._waiting[state] = (verifier, request.url.path)
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code", "client_id": self.config["client_id"], "scope": self.config["scope"],
            "redirect_uri": f"{self.url}/oauth2/callback", "state": state, "code_challenge": digest,
            "code_challenge_method": self.config["code_challenge_method"],
        }  # fmt: skip
        return RedirectResponse(f"{self._provider.url}/auth?{urlencode(asked)}")


@asynccontextmanager
async def serving(*parts: Provider | Proxy) -> AsyncIterator[None]:
    """Let them listen on loopback while the block runs."""
    async with AsyncExitStack() as stack:
        for part in parts:
            if isinstance(part, Proxy):
                stack.push_async_callback(part.http.aclose)
            config = uvicorn.Config(Starlette(routes=part.routes()), port=0, log_level="critical", lifespan="off")
            server = uvicorn.Server(config)
            running = asyncio.create_task(server._serve())
            stack.push_async_callback(asyncio.wait, [running])
            stack.callback(setattr, server, "should_exit", True)

            async def begun(server: uvicorn.Server = server) -> bool:
                return server.started

            await wait_for(begun, begun)
            part.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        yield

"""Tokens of an identity provider: what is taken, and what an enemy sends (engine/surfaces/http/access/jwts)."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from structlog.testing import capture_logs

from phaseline.schemas.errors import BadSetting, InvalidInput, NoAnswer
from tests.support.http_server import Access, AccessSettings, Api, JwtSettings, KeyPace, http_server, jwts
from tests.support.installation import Settings
from tests.support.own_installation import Client
from tests.support.raising import raises

ISSUER, AUDIENCE = "https://id.example", "phaseline"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(65_537, 2_048), "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}  # fmt: skip
OTHERS = rsa.generate_private_key(65_537, 2_048)
"""A key that the provider has not published."""


def published(algorithm: str, key: Any, **further: Any) -> dict[str, Any]:
    """A public key as a JWKS has it."""
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {"kid": f"key-{algorithm}", **made, **further}


def write(path: Path, *keys: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"keys": keys}))
    return path


def token(algorithm: str = "RS256", key: Any = None, kid: str | None = "", **claims: Any) -> str:
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": time.time() + 60, "roles": ["read", "x"], **claims}
    named = {} if kid is None else {"kid": kid or f"key-{algorithm}"}
    wanted = {name: value for name, value in given.items() if value is not None}
    return jwt.encode(wanted, key or KEYS[algorithm], algorithm, headers=named)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The provider's keys, in a file."""
    return write(tmp_path / "keys.json", *(published(name, key) for name, key in KEYS.items()))


@pytest.fixture
def known(keys: Path) -> jwts.Jwts:
    """What verifies its tokens."""
    return jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE))


@pytest.mark.parametrize("algorithm", KEYS)
async def test_tokens_of_the_provider_are_taken(known: jwts.Jwts, algorithm: str) -> None:
    found = await known.caller(token(algorithm))
    assert (found.name, sorted(found.roles), found.is_over) == ("alice", ["read"], False)
    assert (await known.caller(token(algorithm, kid=None))).name == "alice"
    assert (await known.caller(token(algorithm, aud=["other", AUDIENCE]))).name == "alice"
    assert (await known.caller(token(algorithm, exp=time.time() - 5))).name == "alice"  # clocks differ a little


@pytest.mark.parametrize(
    ("claim", "given", "roles"),
    [
        ("roles", {"roles": ["publish:c1", "admin", 7, "read:c1"]}, {"read", "publish"}),
        ("scope", {"scope": "openid read operate"}, {"read", "operate"}),
        ("realm_access.roles", {"realm_access": {"roles": ["read"]}}, {"read"}),
        ("roles", {"roles": None}, set()), ("a.b", {"a": "read"}, set()), ("roles", {"roles": {"read": 1}}, set()),
    ],
)  # fmt: skip
async def test_roles_stand_in_a_claim(keys: Path, claim: str, given: dict[str, Any], roles: set[str]) -> None:
    found = await jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE, claim)).caller(token(**given))
    assert found.roles == roles
    if "publish" in roles:
        assert (*found.trees, *found.published) == ("c1", "c1")


def part(value: dict[str, Any] | bytes) -> str:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def unsigned(algorithm: str) -> str:
    claims = token().split(".")[1]
    return f"{part({'alg': algorithm, 'kid': 'key-RS256'})}.{claims}."


def signed_with_the_public_key() -> str:
    """The public key taken as a secret."""
    public = (
        KEYS["RS256"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    text = f"{part({'alg': 'HS256', 'kid': 'key-RS256'})}.{token().split('.')[1]}"
    return f"{text}.{part(hmac.new(public, text.encode(), hashlib.sha256).digest())}"


def with_its_own_key() -> str:
    """A key in the token itself, by value and by address."""
    head = {"jwk": published("RS256", OTHERS), "jku": "https://evil.example/keys", "kid": "key-RS256"}
    claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60, "roles": ["read"]}
    return jwt.encode(claims, OTHERS, "RS256", headers=head)


def changed() -> str:
    head, _, signature = token().split(".")
    return ".".join((head, part({"iss": ISSUER, "aud": AUDIENCE, "exp": 9e9, "roles": ["operate"]}), signature))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: token(exp=time.time() - 60), "has expired"), (lambda: token(nbf=time.time() + 90), "not valid yet"),
        (lambda: token(iat=time.time() + 90), "not valid yet"),
        (lambda: token(aud="other"), "another audience"), (lambda: token(aud=None), "lacks the claim aud"),
        (lambda: token(iss="https://evil.example"), "another issuer"), (lambda: token(iss=None), "lacks the claim iss"),
        (lambda: token(exp=None), "lacks the claim exp"), (lambda: token(exp="soon"), "signature"),
        (lambda: token(exp=10**400), "signature"),
        (lambda: token(key=OTHERS), "signature"), (lambda: token(key=OTHERS, kid=None), "signature"),
        (lambda: token("ES256", kid="key-RS256"), "signature"), (lambda: token("RS512", KEYS["RS256"]), "signature"),
        (lambda: unsigned("none"), "signature"), (lambda: unsigned("None"), "signature"),
        (lambda: unsigned("RS256"), "signature"), (signed_with_the_public_key, "signature"),
        (with_its_own_key, "signature"), (changed, "signature"), (lambda: "a.b.c", "signature"),
        (lambda: f"{part(b'[1]')}.e30.x", "signature"), (lambda: f"{part({'alg': ['RS256']})}.e30.x", "signature"),
        (lambda: f"{part({'alg': 'RS256', 'kid': {}})}.e30.x", "signature"),
        (lambda: token(x="y" * 20_000), "signature"),
        (lambda: f"{part(b'[' * 11_000)}.e30.x", "signature"),
        (lambda: f"{part(b'[' * 5_000 + b']' * 5_000)}.e30.x", "signature"),
        (lambda: f"{part({'alg': 'RS256', 'kid': 'key-RS256'})}.{part(b'[' * 9_000)}.x", "signature"),
    ],
)  # fmt: skip
async def test_other_tokens_are_refused(known: jwts.Jwts, made: Callable[[], str], says: str) -> None:
    with raises(InvalidInput.no_token, match=says):
        await known.caller(made())


async def test_keys_that_are_no_public_keys_for_signatures_are_left_out(tmp_path: Path) -> None:
    secret = {"kty": "oct", "k": part(b"s" * 32), "kid": "s"}
    for keys in (
        [secret],
        [published("RS256", KEYS["RS256"], use="enc")],
        [published("RS256", KEYS["RS256"], alg="RS512")],
    ):
        known = jwts.Jwts(JwtSettings(str(write(tmp_path / "keys", *keys)), ISSUER, AUDIENCE))
        for one in (
            token(),
            jwt.encode({"iss": ISSUER, "aud": AUDIENCE, "exp": 9e9}, b"s" * 32, "HS256", {"kid": "s"}),
        ):
            with raises(InvalidInput.no_token, match="signature"):
                await known.caller(one)


UNRELATED: list[dict[str, Any]] = [
    {"kty": "RSA"}, {"kty": "RSA", "n": "AQAB", "e": 7}, {"kty": "EC", "crv": "P-256"}, {"kty": "OKP", "crv": "none"},
    {"kty": "RSA", "n": part(b"short"), "e": part(b"\x01\x00\x01")}, {"kty": "OKP", "crv": "X25519", "x": part(b"x" * 32)},
    {"kty": "EC", "crv": "P-256", "x": part(b"x" * 32), "y": part(b"y" * 32)}, {"kty": "EC", "crv": ["P-256"]},
    published("ES512", ec.generate_private_key(ec.SECP521R1()), kid="521"), published("RS256", OTHERS, kid="others"),
    published("ES256", ec.generate_private_key(ec.SECP256R1()), kid="other"),
]  # fmt: skip
"""Keys of a set that have not signed a token: broken ones, those of other curves, those of others."""


@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_token_that_names_no_key_is_tried_with_all(tmp_path: Path, algorithm: str) -> None:
    """A key that has nothing to do with it, however broken, keeps nobody out and lets nobody in."""
    own, others = published(algorithm, KEYS[algorithm]), tmp_path / "others"
    for unrelated in ([one] for one in UNRELATED):
        keys = write(tmp_path / "keys", *unrelated, own)
        known = jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE))
        for kid in (None, ""):
            assert (await known.caller(token(algorithm, kid=kid))).name == "alice"
        with raises(InvalidInput.no_token, match="signature"):
            await known.caller(token(key=rsa.generate_private_key(65_537, 2_048), kid=None))
    known = jwts.Jwts(JwtSettings(str(write(others, *UNRELATED)), ISSUER, AUDIENCE))
    with raises(InvalidInput.no_token, match="signature"):
        await known.caller(token(algorithm, kid=None))


async def test_keys_change(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known, reads = jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE)), [0]
    read = jwts._keys_at

    def counted(where: str, patience: float) -> list[dict[str, Any]]:
        reads[0] += 1
        return read(where, patience)

    monkeypatch.setattr(jwts, "_keys_at", counted)
    await known.caller(token())
    write(keys, published("RS256", OTHERS, kid="new"))
    for _ in range(20):  # whoever makes names of keys up cannot make us ask again and again
        with raises(InvalidInput.no_token):
            await known.caller(token(key=OTHERS, kid="new"))
    assert reads == [1]
    known._settings = replace(known._settings, pace=KeyPace(soon=-1.0))
    assert (await known.caller(token(key=OTHERS, kid="new"))).name == "alice"
    keys.unlink()  # the provider is away: its keys stay
    known._settings = replace(known._settings, pace=KeyPace(kept=-1.0, soon=-1.0))
    assert (await known.caller(token(key=OTHERS, kid="new"))).name == "alice"
    with raises(InvalidInput.no_token):
        await known.caller(token())


async def test_a_provider_that_is_away(tmp_path: Path) -> None:
    for text in ("", "{}", "[]", '{"keys": 1}', '{"keys": []}'):
        (tmp_path / "keys").write_text(text)
        with raises(NoAnswer.keys_unread):
            await jwts.Jwts(JwtSettings(str(tmp_path / "keys"), ISSUER, AUDIENCE)).caller(token())
    with capture_logs() as said, raises(NoAnswer.keys_unread, match=r"from http://127\.0\.0\.1:1/keys: ") as told:
        await jwts.Jwts(JwtSettings("http://u:s3cret@127.0.0.1:1/keys?token=s3cret", ISSUER, AUDIENCE)).caller(token())
    assert "s3cret" not in f"{told.value} {said}"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (JwtSettings("http://id.example/keys", ISSUER, AUDIENCE), "must be an https URL"),
        (JwtSettings("http://u:p@id.example/keys?token=p", ISSUER, AUDIENCE), "found 'http://id.example/keys'"),
        (JwtSettings("nothing", ISSUER, AUDIENCE), "there is no file 'nothing'"),
        (JwtSettings("https://id.example/keys", "", AUDIENCE), "--jwt-issuer and --jwt-audience"),
        (JwtSettings("https://id.example/keys", ISSUER, ""), "--jwt-issuer and --jwt-audience"),
    ],
)
def test_settings_that_would_let_others_in(settings: JwtSettings, says: str) -> None:
    with pytest.raises(BadSetting, match=says):
        Access(AccessSettings(jwt=settings))


@pytest_asyncio.fixture
async def api(client: Client, working: Settings, keys: Path) -> AsyncIterator[Api]:
    """A server that takes the provider's tokens."""
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    async with http_server(working, access=AccessSettings(jwt=JwtSettings(str(keys), ISSUER, AUDIENCE))) as served:
        yield served


async def test_a_server_takes_them(api: Api) -> None:
    async def asked(given: str, method: str = "GET", path: str = "/v1/entities") -> Any:
        return await api.http.request(method, path, headers={"authorization": f"Bearer {given}"})

    assert (await asked(token())).json()["total"] == 1
    answer = await asked(token(exp=1))
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json()["detail"].startswith("this token has expired")
    assert (await asked(token(roles=["admin"]))).status_code == 403
    assert (await asked("phl_unknown")).status_code == 401
    assert (await asked(token(), "POST", "/v1/rejections/1/resend")).status_code == 403
    session = await asked(token(roles=["read:c1"]), "POST", "/v1/session")
    assert session.json()["trees"] == ["c1"]
    assert (await asked(token(x="y" * 4_000), "POST", "/v1/session")).status_code == 401


async def test_the_keys_are_at_an_address(keys: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(keys.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            where = f"http://127.0.0.1:{server.server_port}/{keys.name}"
            assert (await jwts.Jwts(JwtSettings(where, ISSUER, AUDIENCE)).caller(token())).name == "alice"
            with raises(NoAnswer.keys_unread):
                await jwts.Jwts(JwtSettings(f"{where}x", ISSUER, AUDIENCE)).caller(token())
        finally:
            server.shutdown()


async def test_a_stream_ends_when_the_token_does(api: Api) -> None:
    heard, status = "", 401
    for seconds in (2, 8, 32):  # on a busy machine a token may end before the request arrives
        if status == 401:
            headers = {"authorization": f"Bearer {token(exp=time.time() + seconds)}"}
            async with api.http.stream("GET", "/v1/transitions", headers=headers) as answer:
                status = answer.status_code
                heard = "".join([piece async for piece in answer.aiter_text()])
    assert "event: bye" in heard


@pytest.mark.parametrize("given", ["platform", "=read", "platform=admin", "platform="])
def test_a_word_that_stands_for_no_role_is_refused(keys: Path, given: str) -> None:
    with pytest.raises(BadSetting, match="is not WORD=ROLE"):
        jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE, given=(given,)))


async def test_words_stand_for_roles_and_limits(keys: Path) -> None:
    given = ("a=b=read:c1", "ops=operate", "ops=source:/agent/*", "ops=publish")
    known = jwts.Jwts(JwtSettings(str(keys), ISSUER, AUDIENCE, "groups", "name", given))
    found = await known.caller(token(groups=["a=b", "publish", "ops"], name="Ann"))
    assert (found.name, found.actor, sorted(found.roles)) == ("Ann", "Ann", ["operate", "publish", "read"])
    assert (*found.trees, *found.sources) == ("c1", "/agent/*")
    nameless = await known.caller(token(groups=["ops"], name=7))
    assert (nameless.actor, "`name` is missing" in nameless.nameless) == ("", True)

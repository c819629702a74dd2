"""TLS: the client verifies the server, the server verifies the client, and neither talks in clear."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phaseline.schemas.errors import SetupError
from tests.support.accounts_server import AccountPlan, AccountsServer
from tests.support.certificates import CertificateAuthority
from tests.support.command import ENVIRONMENT, ROOT
from tests.support.installation import EmbeddedServer, Settings, Wire, provision
from tests.support.operator_server import OperatorServer
from tests.support.own_installation import Client
from tests.support.raising import raises

MAIN = "from phaseline.engine.surfaces.console import main; main()"


class Encrypted(EmbeddedServer):
    """A server that requires TLS. more: further lines of its block `tls`."""

    def __init__(self, certificate: tuple[Path, Path], more: str = "") -> None:
        super().__init__()
        self._certificate, self._more = certificate, more

    def _config(self) -> str:
        certificate, key = self._certificate
        return f'{super()._config()}tls {{ cert_file: "{certificate}", key_file: "{key}", {self._more} }}\n'


@asynccontextmanager
async def connected(server: EmbeddedServer, *, scheme: str = "nats", **given: Any) -> AsyncIterator[Wire]:
    url = server.url.replace("nats://", f"{scheme}://")
    async with Wire.open(Settings(nats=(url,), connect_timeout=30, request_timeout=30, **given)) as wire:
        await wire.flush()
        yield wire


async def refused(server: EmbeddedServer, **given: Any) -> str:
    with raises(SetupError.tls_failed) as told:
        async with connected(server, **given):
            pass
    return str(told.value)


@pytest.fixture
def authority(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path / "ours")


@pytest.fixture
def stranger(tmp_path: Path) -> CertificateAuthority:
    """An authority that nobody trusts, of the same name."""
    return CertificateAuthority(tmp_path / "theirs")


async def test_the_client_verifies_the_server(authority: CertificateAuthority, stranger: CertificateAuthority) -> None:
    async with Encrypted(authority.sign("server")) as server:
        for scheme in ("nats", "tls"):
            async with connected(server, scheme=scheme, tls_ca=authority.file) as wire:
                assert (await wire.api("INFO"))["streams"] == 0
        assert "no trusted authority" in await refused(server, tls_ca=stranger.file)
        assert "no trusted authority" in await refused(server, scheme="tls")
        assert "no trusted authority" in await refused(server)


async def test_a_command_loads_tls_when_it_connects(
    authority: CertificateAuthority, stranger: CertificateAuthority
) -> None:
    """In a process of its own: those of other tests have loaded everything."""
    async with Encrypted(authority.sign("server")) as server:
        for one, told in ((authority, "phaseline worker"), (stranger, "no trusted authority")):
            words = ["get", "cluster", "c1", "--nats", server.url, "--tls-ca", str(one.file), "--timeout", "30"]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", MAIN, *words, stdout=PIPE, stderr=PIPE, cwd=ROOT, env=ENVIRONMENT
            )
            _, err = await process.communicate()
            assert told in err.decode()


@pytest.mark.parametrize(
    ("address", "days", "problem"), [("127.0.0.2", 1, "for another host"), ("127.0.0.1", -1, "expired")]
)
async def test_a_certificate_of_another_host_or_time(
    authority: CertificateAuthority, address: str, days: int, problem: str
) -> None:
    async with Encrypted(authority.sign("server", address, days=days)) as server:
        assert problem in await refused(server, tls_ca=authority.file)


async def test_the_server_verifies_the_client(authority: CertificateAuthority, stranger: CertificateAuthority) -> None:
    verifying = f'ca_file: "{authority.file}", verify: true'
    async with Encrypted(authority.sign("server"), verifying) as server:
        certificate, key = authority.sign("client")
        async with connected(server, tls_ca=authority.file, tls_cert=certificate, tls_key=key) as wire:
            assert (await wire.api("INFO"))["streams"] == 0
        assert await refused(server, tls_ca=authority.file)
        certificate, key = stranger.sign("client")
        assert await refused(server, tls_ca=authority.file, tls_cert=certificate, tls_key=key)
        certificate, key = authority.sign("late", days=-1)
        assert await refused(server, tls_ca=authority.file, tls_cert=certificate, tls_key=key)


async def test_a_client_that_wants_tls_does_not_talk_in_clear(
    server: EmbeddedServer, authority: CertificateAuthority
) -> None:
    for given in ({"tls_ca": authority.file}, {"scheme": "tls"}):
        assert "refusing to talk in clear" in await refused(server, **given)


class EncryptedAccounts(AccountsServer):
    """A server with accounts that verifies its clients. `ours`: the authority that everybody trusts."""

    def __init__(self, folder: Path, ours: CertificateAuthority) -> None:
        super().__init__(AccountPlan("pl", ("c1",)), folder / "keys")
        self.ours = ours

    def _config(self) -> str:
        certificate, key = self.ours.sign("server")
        files = f'cert_file: "{certificate}", key_file: "{key}", ca_file: "{self.ours.file}"'
        return f"{super()._config()}tls {{ {files}, verify: true }}\n"

    def settings(self, user: str, **more: Any) -> Settings:
        certificate, key = self.ours.sign(user)
        return super().settings(user, tls_ca=self.ours.file, tls_cert=certificate, tls_key=key, **more)


async def test_an_installation_with_certificates_and_keys(authority: CertificateAuthority, tmp_path: Path) -> None:
    async with EncryptedAccounts(tmp_path, authority) as server:
        await server.start_worker()
        async with Client.open(server.settings("operator")) as operator:
            assert (await operator.publish_and_wait("cluster", "create", "c1")).effect == "transitions"
        async with Client.open(server.settings("reader")) as reader:
            assert [record.after.phase async for record in reader.history("cluster", "c1")] == ["Creating"]
        await server.stop_worker()
        other = replace(server.settings("tree-c1"), nkey=None)
        with raises(SetupError.user_refused):
            async with Wire.open(other) as wire:
                await wire.flush()


async def test_a_user_with_credentials_on_a_server_in_operator_mode(tmp_path: Path) -> None:
    async with OperatorServer(tmp_path) as server:
        async with Wire.open(server.settings("operator")) as wire:
            await provision(wire, wire.settings)
        with raises(SetupError.user_refused):
            async with Wire.open(Settings(nats=(server.url,))) as wire:
                await wire.flush()

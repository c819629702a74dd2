"""Modules of Python that a command loads when it uses them: nobody can tell, several threads included."""

import asyncio
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.nats.test_tls import Encrypted
from tests.support.certificates import CertificateAuthority
from tests.support.command import ENVIRONMENT, ROOT

PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

{first}
from phaseline.engine.surfaces import late_modules
late_modules.spare()
import asyncio, socket
asyncio.run(asyncio.sleep(0))
import ssl
with socket.socket() as one:
    assert not isinstance(one, ssl.SSLSocket)
loaded = "_ssl" in sys.modules
sys.setswitchinterval(1e-6)
together = Barrier(8)

def use(number):
    together.wait()
    if number % 2:
        return type(ssl.create_default_context()).__name__
    return asyncio.sslproto.SSLProtocol.__name__

with ThreadPoolExecutor(8) as pool:
    found = sorted(set(pool.map(use, range(8))))
from ssl import SSLSocket
assert issubclass(SSLSocket, socket.socket) and ssl.SSLSocket is SSLSocket is sys.modules["ssl"].SSLSocket
assert asyncio.sslproto.ssl is asyncio.base_events.ssl is ssl
print(loaded, *found, hasattr(ssl, "no_such_name"))
"""
MAIN = "from phaseline.engine.surfaces.console import main; main()"


@pytest.mark.parametrize(("first", "loaded"), [("", False), ("import asyncio", True), ("import ssl", True)])
def test_a_module_is_loaded_when_something_of_it_is_used(first: str, loaded: bool) -> None:
    program = PROGRAM.format(first=first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(loaded), "SSLContext", "SSLProtocol", "False"], done.stderr


async def test_a_command_connects_with_tls(tmp_path: Path) -> None:
    """In a process of its own: those of other tests have loaded everything."""
    ours, theirs = CertificateAuthority(tmp_path / "ours"), CertificateAuthority(tmp_path / "theirs")
    async with Encrypted(ours.sign("server")) as server:
        for authority, told in ((ours, "phaseline worker"), (theirs, "no trusted authority")):
            words = ["get", "cluster", "c1", "--nats", server.url, "--tls-ca", str(authority.file), "--timeout", "30"]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", MAIN, *words, stdout=PIPE, stderr=PIPE, cwd=ROOT, env=ENVIRONMENT
            )
            _, err = await process.communicate()
            assert told in err.decode()

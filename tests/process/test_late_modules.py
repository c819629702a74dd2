"""Modules of Python that a command loads when it uses them: nobody can tell, several threads included."""

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(("first", "loaded"), [("", False), ("import asyncio", True), ("import ssl", True)])
def test_a_module_is_loaded_when_something_of_it_is_used(first: str, loaded: bool) -> None:
    program = PROGRAM.format(first=first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(loaded), "SSLContext", "SSLProtocol", "False"], done.stderr

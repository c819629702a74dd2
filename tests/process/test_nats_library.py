"""nats-py without its JetStream client: that is loaded when somebody first uses it, by several threads too."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

{first}
from phaseline.engine.nats.nats_library import Client
loaded = "nats.js" in sys.modules
sys.setswitchinterval(1e-6)
together = Barrier(8)

def use(_):
    together.wait()
    return type(Client().jetstream()).__name__

with ThreadPoolExecutor(8) as pool:
    found = set(pool.map(use, range(8)))
import nats
from nats.js.api import StreamConfig
assert nats.js.api.StreamConfig is StreamConfig
print(loaded, *found, hasattr(nats, "no_such_name"))
"""


@pytest.mark.parametrize(("first", "loaded"), [("", False), ("import nats.js", True)])
def test_the_jetstream_client_is_loaded_when_it_is_first_used(first: str, loaded: bool) -> None:
    program = PROGRAM.format(first=first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(loaded), "JetStreamContext", "False"], done.stderr

"""An address of this machine where nobody listens, as long as this process lives.

Belongs here: the port, which is bound so that no other program can listen there. Does not: servers that answer badly.
"""

import atexit
import socket

_bound = socket.socket()
_bound.bind(("127.0.0.1", 0))
atexit.register(_bound.close)
ADDRESS = f"127.0.0.1:{_bound.getsockname()[1]}"
NATS = f"nats://{ADDRESS}"
"""The URL of a NATS server that is not there."""

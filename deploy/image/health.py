"""Whether the process of this container lives: a worker answers at the port of its metrics, the HTTP server at its own.

Belongs here: what HEALTHCHECK of the Dockerfile runs. Does not: readiness, which `/readyz` tells.
"""

import sys
import urllib.request

PORTS = (9464, 8223)


def answers(port: int) -> bool:
    """Whether `/livez` answers there, and with 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/livez", timeout=2):
            return True
    except OSError:  # nothing listens there, or the answer is another one
        return False


if __name__ == "__main__":
    sys.exit(0 if any(map(answers, PORTS)) else 1)

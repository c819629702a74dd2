"""Three nats-servers in network namespaces of their own, whose routes can be cut while clients still reach each server.

Belongs here: namespaces, links, the servers. Does not: what is published meanwhile. It needs root and Linux's `ip`.
Each server has two links: one to the other servers (its routes), one to the clients. A cut link drops packets without a
word, as a broken switch does; a stopped server would close its connections.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phaseline.engine.nats.embedded.server import find_binary

NODES = (0, 1, 2)
ROUTE_PORT, CLIENT_PORT = 6222, 4222


def ip(*words: str, may_fail: bool = False) -> None:
    """Run `ip`."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert may_fail or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


def possible() -> bool:
    """Whether this process may make namespaces and links."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"pl{os.getpid()}t"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    linked = ["ip", "link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b"]
    made = made and subprocess.run(linked, capture_output=True, check=False).returncode == 0
    ip("link", "del", f"{name}a", may_fail=True)
    ip("netns", "del", name, may_fail=True)
    return made


class Net:
    """The namespaces, and the servers in them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, os.getpid() % 10_000
        self.block = f"10.{200 + self.number % 50}"
        self.servers: list[subprocess.Popen[bytes]] = []

    def space(self, node: int) -> str:
        return f"pl{self.number}n{node}"

    def link(self, sort: str, node: int) -> str:
        """The end of a link outside the namespace. The bridges have the number 9."""
        return f"pl{self.number}{sort}{node}"

    def address(self, sort: str, node: int) -> str:
        return f"{self.block}.{1 if sort == 'r' else 2}.{node + 1}"

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"nats://{self.address('c', node)}:{CLIENT_PORT}" for node in NODES)

    def make(self) -> None:
        """Make the bridges, the namespaces and the links."""
        for sort in ("r", "c"):
            bridge = self.link(sort, 9)
            ip("link", "add", bridge, "type", "bridge")
            ip("link", "set", bridge, "up")
        ip("addr", "add", f"{self.block}.2.254/24", "dev", self.link("c", 9))
        for node in NODES:
            ip("netns", "add", self.space(node))
            ip("-n", self.space(node), "link", "set", "lo", "up")
            for sort in ("r", "c"):
                outside, inside = self.link(sort, node), f"{sort}0"
                ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.space(node))
                ip("link", "set", outside, "master", self.link(sort, 9), "up")
                ip("-n", self.space(node), "addr", "add", f"{self.address(sort, node)}/24", "dev", inside)
                ip("-n", self.space(node), "link", "set", inside, "up")

    def start(self) -> None:
        """Start the three servers."""
        routes = ", ".join(f'"nats://{self.address("r", node)}:{ROUTE_PORT}"' for node in NODES)
        for node in NODES:
            data = self.folder / f"n{node}"
            data.mkdir()
            (data / "nats.conf").write_text(
                f"server_name: n{node}\nlisten: {self.address('c', node)}:{CLIENT_PORT}\n"
                f"jetstream {{ store_dir: {data} }}\nlog_file: {data}/log\nping_interval: 2s\nping_max: 2\n"
                f"cluster {{ name: three, listen: {self.address('r', node)}:{ROUTE_PORT}, routes: [{routes}] }}\n"
            )
            command = ["ip", "netns", "exec", self.space(node), find_binary(), "--config", str(data / "nats.conf")]
            self.servers.append(subprocess.Popen(command, start_new_session=True))

    def cut(self, node: int) -> None:
        """Cut a server off from the other two. Clients still reach it."""
        ip("link", "set", self.link("r", node), "down")

    def heal(self, node: int) -> None:
        """Connect the server again."""
        ip("link", "set", self.link("r", node), "up")

    def remove(self) -> None:
        """End the servers and remove all that `make` made."""
        for server in self.servers:
            server.kill()
            server.wait()
        for node in NODES:
            for sort in ("r", "c"):
                ip("link", "del", self.link(sort, node), may_fail=True)
            ip("netns", "del", self.space(node), may_fail=True)
        for sort in ("r", "c"):
            ip("link", "del", self.link(sort, 9), may_fail=True)


@contextmanager
def three_namespaces(folder: Path) -> Iterator[Net]:
    """Three servers, each in a namespace."""
    net = Net(folder)
    try:
        net.make()
        net.start()
        yield net
    finally:
        net.remove()

"""compose.yaml: three NATS nodes with JetStream, two workers, nothing listening beyond loopback."""

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent


@pytest.fixture
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found


def test_three_servers_know_each_other(services: dict[str, Any]) -> None:
    servers = {name: service for name, service in services.items() if service["image"].startswith("nats:")}
    assert set(servers) == {"n1", "n2", "n3"}
    routes = ",".join(f"nats://{name}:6222" for name in servers)
    for name, service in servers.items():
        words = service["command"]
        assert words[words.index("--server_name") + 1] == name
        assert words[words.index("--routes") + 1] == routes
        assert "--jetstream" in words
        major, minor = service["image"].removeprefix("nats:").split("-")[0].split(".")
        assert (int(major), int(minor)) >= (2, 14)


def test_ports_are_on_loopback(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_two_workers_wait_for_the_servers(services: dict[str, Any]) -> None:
    workers = [service for service in services.values() if service.get("build")]
    assert len(workers) == 2
    for worker in workers:
        assert worker["command"] == ["worker"]
        assert set(worker["depends_on"]) == {"n1", "n2", "n3"}
        assert worker["environment"]["PHASELINE_REPLICAS"] == "3"

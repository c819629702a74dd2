"""compose.yaml, read: three NATS nodes with JetStream and TLS, two workers, nothing listening beyond loopback."""

import re
from typing import Any

import pytest

from phaseline.engine.nats.accounts.users import AccountPlan
from phaseline.engine.nats.streams import MINIMUM_SERVER
from phaseline.schemas.version import __version__
from tests.support.command_line import parsed, unread
from tests.support.compose_file import (
    COMPOSE,
    CONFIGURATION,
    FOLDER,
    OURS,
    ROOT,
    SERVERS,
    SERVICES,
    TEXT,
    TOOLS,
    WORKERS,
)


def test_nothing_is_without_a_place() -> None:
    assert set(SERVICES) == {*SERVERS, *WORKERS, *TOOLS}
    assert set(TOOLS) == {"accounts", "certificates", "operator", "page"}
    assert set(COMPOSE["volumes"]) == {*SERVERS, "accounts", "tls"}


def test_three_servers_know_each_other() -> None:
    assert set(SERVERS) == {"n1", "n2", "n3"}
    routes = ", ".join(f'"nats://{name}:6222"' for name in SERVERS)
    assert f"routes: [{routes}]" in CONFIGURATION
    assert "request_queue_limit: 1000" in CONFIGURATION  # a reader's requests must not stop everything for minutes
    for name, service in SERVERS.items():
        assert service["command"] == ["--config", f"{FOLDER}/nats.conf", "--server_name", name]
        assert service["volumes"] == [
            f"{name}:/data", f"accounts:{FOLDER}/accounts:ro", f"tls:{FOLDER}/tls:ro",
            f"./deploy/compose/nats.conf:{FOLDER}/nats.conf:ro",
        ]  # fmt: skip
        once = {"condition": "service_completed_successfully"}
        assert service["depends_on"] == {"accounts": once, "certificates": once}
        assert service["healthcheck"]["test"][-1].endswith(":8222/healthz")
        major, minor = service["image"].removeprefix("nats:").split("-")[0].split(".")
        assert (int(major), int(minor)) >= MINIMUM_SERVER


def test_all_connections_are_encrypted() -> None:
    made = OURS["certificates"]["command"]
    assert made[0] == f"{FOLDER}/tls"
    assert {f"DNS:{name}" for name in SERVERS} <= set(made[1].split(","))
    assert CONFIGURATION.count(f'cert_file: "{made[0]}/server.crt"') == 2
    assert "verify: true" in CONFIGURATION.partition("cluster {")[2]
    for name, service in OURS.items():
        if name not in ("accounts", "certificates"):
            assert service["environment"]["PHASELINE_TLS_CA"] == f"{FOLDER}/tls/ca.crt"


def test_our_containers_write_nowhere_but_into_their_volumes() -> None:
    for service in OURS.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    written = {
        (name, mount.split(":")[0])
        for name, service in OURS.items()
        for mount in service["volumes"]
        if not mount.endswith(":ro")
    }
    assert written == {
        ("certificates", "tls"), ("accounts", "accounts"), ("accounts", "tls"), ("operator", "accounts"), ("operator", "tls"),
    }  # fmt: skip


def test_ports_are_on_loopback() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(set(ports)) == 4
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:(4222|8223)", port) for port in ports)


def test_the_servers_use_the_accounts_that_are_made() -> None:
    assert OURS["accounts"]["command"][:2] == ["admin", "accounts"]
    made = parsed(OURS["accounts"]["command"])
    assert f"{FOLDER}/" + re.findall(r'^include "(.*)"', CONFIGURATION, re.MULTILINE)[0] == str(made["output"])
    users = {f"{made['keys']}/{user.name}.nk": user.inbox for user in AccountPlan("pl", made["trees"]).users()}
    for name in (*WORKERS, "operator", "page"):
        environment = OURS[name]["environment"]
        assert users[environment["PHASELINE_NKEY"]] == environment["PHASELINE_INBOX_PREFIX"]
    assert f"worker-a:{made['keys']}/tree-c1.nk" in TEXT
    assert f"--mode 0755 {FOLDER}/accounts {FOLDER}/tls" in (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize("worker", WORKERS.values(), ids=WORKERS)
def test_a_worker_waits_for_the_servers_and_finds_them(worker: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker["depends_on"] == {name: {"condition": "service_healthy"} for name in SERVERS}
    assert unread("worker", worker["environment"]) == set()
    for name, value in worker["environment"].items():
        monkeypatch.setenv(name, value)
    params = parsed(worker["command"])
    assert params["nats"] == ",".join(f"nats://{name}:4222" for name in SERVERS)
    assert params["replicas"] == 3


def test_the_page_is_read_with_a_token_and_for_readers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    page = OURS["page"]
    assert unread("serve", page["environment"]) == set()
    assert parsed(page["command"])["listen"] == "0.0.0.0:8223"
    made = re.findall(r"run --rm operator admin token --tokens (\S+) me read$", TEXT, re.MULTILINE)
    assert made == [str(parsed(page["command"])["tokens"])]
    assert page["environment"]["PHASELINE_API_PREFIX"] == "pl.read"


def test_there_are_two_workers_of_this_version() -> None:
    assert len(WORKERS) == 2
    assert {service["image"] for service in OURS.values()} == {f"phaseline:{__version__}"}


def test_its_example_is_a_command_that_exists() -> None:
    (service, line) = re.findall(r"docker compose run --rm (\S+) (.*)", TEXT)[0]
    assert service in TOOLS
    assert parsed(line.split())["wait"]

"""compose.yaml, read: three NATS nodes with JetStream, two workers, nothing listening beyond loopback."""

import re
from pathlib import Path
from typing import Any

import click
import pytest

from phaseline.engine.accounts.users import AccountPlan
from phaseline.engine.cli import cli
from phaseline.engine.jetstream.streams import MINIMUM_SERVER
from tests.support.compose_file import COMPOSE, OURS, ROOT, SERVERS, SERVICES, TEXT, TOOLS, WORKERS


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters that `phaseline WORDS...` takes, from the words and the environment; nothing runs."""
    name, *rest = words
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command.make_context(name, rest).params


def test_nothing_is_without_a_place() -> None:
    assert set(SERVICES) == {*SERVERS, *WORKERS, *TOOLS}
    assert set(TOOLS) == {"accounts", "operator"}
    assert set(COMPOSE["volumes"]) == {*SERVERS, "accounts"}


def test_three_servers_know_each_other() -> None:
    assert set(SERVERS) == {"n1", "n2", "n3"}
    routes = ",".join(f"nats://{name}:6222" for name in SERVERS)
    for name, service in SERVERS.items():
        words = service["command"]
        assert words[words.index("--server_name") + 1] == name
        assert words[words.index("--routes") + 1] == routes
        assert words[words.index("--store_dir") + 1] == "/data"
        assert service["volumes"] == [f"{name}:/data", "accounts:/accounts:ro"]
        assert service["depends_on"] == {"accounts": {"condition": "service_completed_successfully"}}
        assert "--jetstream" in words
        assert service["healthcheck"]["test"][-1].endswith(":8222/healthz")
        major, minor = service["image"].removeprefix("nats:").split("-")[0].split(".")
        assert (int(major), int(minor)) >= MINIMUM_SERVER


def test_ports_are_on_loopback() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(set(ports)) == 3
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:4222", port) for port in ports)


def test_the_servers_use_the_accounts_that_are_made() -> None:
    assert OURS["accounts"]["command"][0] == "accounts"
    made = parsed(OURS["accounts"]["command"])
    assert {str(made["output"])} == {words[words.index("--config") + 1] for words in servers_words()}
    users = {f"{made['keys']}/{user.name}.nk": user.inbox for user in AccountPlan("pl", made["trees"]).users()}
    for service in (*WORKERS.values(), OURS["operator"]):
        environment = service["environment"]
        assert users[environment["PHASELINE_NKEY"]] == environment["PHASELINE_INBOX_PREFIX"]
    assert f"worker-a:{made['keys']}/tree-c1.nk" in TEXT
    assert {mount.partition(":")[2] for service in OURS.values() for mount in service["volumes"]} == {"/accounts"}
    assert "phaseline --mode 0755 /accounts" in (ROOT / "Dockerfile").read_text()


def servers_words() -> list[list[str]]:
    return [service["command"] for service in SERVERS.values()]


@pytest.mark.parametrize("worker", WORKERS.values(), ids=WORKERS)
def test_a_worker_waits_for_the_servers_and_finds_them(
    worker: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worker["depends_on"] == {name: {"condition": "service_healthy"} for name in SERVERS}
    bare = parsed(worker["command"])
    for name, value in worker["environment"].items():
        monkeypatch.setenv(name, value.replace("/accounts/keys", str(tmp_path)))
    (tmp_path / "engine.nk").touch()
    params = parsed(worker["command"])
    assert params["nats"] == ",".join(f"nats://{name}:4222" for name in SERVERS)
    assert params["replicas"] == "3"
    # A variable that no option reads would be a typing error.
    assert len([name for name in params if params[name] != bare[name]]) == len(worker["environment"])


def test_there_are_two_workers_of_this_version() -> None:
    assert len(WORKERS) == 2
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    assert {service["image"] for service in OURS.values()} == {f"phaseline:{version[1]}"}


def test_its_example_is_a_command_that_exists() -> None:
    (service, line) = re.findall(r"docker compose run --rm (\S+) (.*)", TEXT)[0]
    assert service in TOOLS
    assert parsed(line.split())["wait"]

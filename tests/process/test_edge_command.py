"""The commands `edge`: what they print and how they end, with and without an edge."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.certificates import CertificateAuthority
from tests.support.command import Shell
from tests.support.edge_site import nodes, publish, site
from tests.support.installation import Settings, Wire, find_binary


def verdict(path: Path) -> str:
    """What nats-server says about a configuration."""
    said = subprocess.run([find_binary(), "-t", "-c", str(path)], capture_output=True, text=True, check=False)
    return said.stderr


async def test_an_operator_adds_sees_and_removes_an_edge(tmp_path: Path) -> None:
    async with site(tmp_path, "c1", add=False) as found:
        hub = found.hub
        shell = Shell(
            PHASELINE_NATS=hub.url, PHASELINE_NKEY=str(hub.keys.file("operator")),
            PHASELINE_INBOX_PREFIX="_INBOX_operator", PHASELINE_TIMEOUT="30",
        )  # fmt: skip
        none = await shell("admin", "sites", "list")
        assert (none.code, none.out) == (0, "")
        assert "admin sites add NAME" in none.err
        assert (await shell("admin", "sites")).err == none.err
        added = await shell("admin", "sites", "add", "c1", "--tree", "c1", "--json")
        assert (added.code, added.json["connected"], added.json["trees"]) == (0, True, ["c1"]), added
        await publish(found.edges["c1"], nodes("c1", 0, 3))
        await found.until_stored(3)
        listed = await shell("admin", "sites", "list", "--json")
        assert (listed.code, listed.json["edge"], listed.json["waiting"]) == (0, "c1", 0)
        assert listed.json["last_event"].endswith("Z")
        healthy = await shell("doctor")
        assert "✓ edges              1 of 1 connected; all that they have is here" in healthy.out, healthy
        await found.edges["c1"].lose_store()
        lost = await shell("admin", "sites", "list")
        assert (lost.code, "store lost" in lost.out, "phaseline admin sites add c1" in lost.out) == (1, True, True)
        assert "✗ edge c1            store lost" in (await shell("doctor")).out
        unknown = await shell("admin", "sites", "add", "c2", "--timeout", "2")
        assert (unknown.code, "phaseline admin accounts --edges" in unknown.err) == (6, True), unknown
        unsure = await shell("admin", "sites", "remove", "c1")
        assert (unsure.code, "--yes" in unsure.err) == (2, True)
        removed = await shell("admin", "sites", "remove", "c1", "--yes")
        assert (removed.code, "pl-INLET-c1" in removed.out) == (0, True)
        again = await shell("admin", "sites", "remove", "c1", "--yes")
        assert (again.code, "there is no edge 'c1', because none was added" in again.err) == (6, True)


async def test_without_an_installation_nothing_is_added(wire: Wire, settings: Settings) -> None:
    del wire
    shell = Shell(PHASELINE_NATS=settings.nats[0], PHASELINE_PREFIX="nobody")
    assert (await shell("admin", "sites", "add", "c1")).code == 6
    assert (await shell("admin", "sites", "list")).code == 6


@pytest.mark.parametrize("name", ["a.b", "a b", "", "é", "x" * 49, "a>"])
async def test_names_of_edges_are_checked(name: str) -> None:
    said = await Shell()("admin", "sites", "config", name, "--hub", "nats-leaf://hub:7422")
    assert (said.code, "an edge has 1 to 48 letters" in said.err) == (2, True)


async def test_a_server_reads_what_is_printed(tmp_path: Path) -> None:
    keys, authority = tmp_path / "keys", CertificateAuthority(tmp_path / "tls")
    cert, key = authority.sign("edge")
    words = ["admin", "sites", "config", "c1", "--hub", "tls://a:7422,tls://b:7422", "--data", str(tmp_path / "data")]
    words += ["--hub-ca", str(authority.file), "--hub-cert", str(cert), "--hub-key", str(key)]
    words += ["--output", str(tmp_path / "c1.conf")]
    for more in ([], ["--keys", str(keys), "--tree", "c1", "--tree", "c2"]):
        assert (await Shell()(*words, *more)).code == 0
        assert "is valid" in verdict(tmp_path / "c1.conf")
    written = tmp_path / "c1.conf"
    assert written.stat().st_mode & 0o777 == 0o600
    assert (keys / "edge-c1.nk").read_text().strip() in written.read_text()
    (keys / "edge-c1.creds").write_text("made by nsc")
    assert (await Shell()(*words, "--keys", str(keys))).code == 0
    assert (keys / "edge-c1.nk").read_text().strip() not in written.read_text()
    assert json.dumps(str(keys / "edge-c1.creds")) in written.read_text()

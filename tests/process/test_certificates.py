"""deploy/compose/certificates.sh: what it makes, what it keeps, and that it finishes what was interrupted.

Belongs here: the files. Does not: servers and workers that use them (`test_compose_cluster`).
"""

import asyncio
import datetime as dt
import shutil
import stat
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.compose_file import CERTIFICATES
from tests.support.patience import LIMIT

NAMES = "DNS:n1,DNS:localhost,IP:127.0.0.1"
FILES = {"ca.crt": 0o644, "ca.key": 0o600, "server.crt": 0o644, "server.key": 0o600, "names": 0o644}

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def run(folder: Path, names: str = NAMES) -> str:
    return subprocess.check_output(["sh", CERTIFICATES, folder, names], text=True, timeout=LIMIT)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def check(folder: Path, names: int = 3) -> None:
    """The files are complete, and belong together."""
    assert modes(folder) == FILES
    authority, server = certificate(folder / "ca.crt"), certificate(folder / "server.crt")
    server.verify_directly_issued_by(authority)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value == x509.BasicConstraints(True, 0)
    assert len(list(server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)) == names
    assert server.not_valid_after_utc > dt.datetime.now(dt.UTC) + dt.timedelta(days=800)


def test_what_is_made_once_is_kept(tmp_path: Path) -> None:
    made = tmp_path / "tls"
    assert run(made).splitlines() == ["made ca.crt", f"made server.crt for {NAMES}"]
    check(made)
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    assert run(made) == ""
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before
    assert run(made, f"{NAMES},DNS:n2") == f"made server.crt for {NAMES},DNS:n2\n"
    check(made, names=4)
    assert (made / "ca.crt").read_bytes() == before["ca.crt"]


async def test_what_was_interrupted_is_finished(tmp_path: Path) -> None:
    """Whatever a run left behind, the next one makes a whole of it."""
    whole = tmp_path / "whole"
    run(whole)

    async def after_loss(lost: tuple[str, ...]) -> None:
        folder = tmp_path / "-".join(lost)
        shutil.copytree(whole, folder)
        (folder / ".new").mkdir()
        for name in lost:
            (folder / name).unlink()
        await asyncio.to_thread(run, folder)
        check(folder)

    await asyncio.gather(*map(after_loss, combinations(FILES, 1)), after_loss(("ca.key", "server.key")))


def test_a_key_of_another_certificate_is_replaced(tmp_path: Path) -> None:
    made, other = tmp_path / "tls", tmp_path / "other"
    run(made)
    run(other)
    shutil.copy(other / "server.key", made / "server.key")
    assert run(made) == f"made server.crt for {NAMES}\n"
    shutil.copy(other / "ca.key", made / "ca.key")
    assert run(made).splitlines() == ["made ca.crt", f"made server.crt for {NAMES}"]
    check(made)

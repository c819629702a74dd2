"""Contexts of the nats command in the configuration folder of a test.

Belongs here: the folder, and writing a context. Does not: what they mean to commands
(`tests/pure/test_nats_contexts.py`).
"""

import json
from pathlib import Path

import pytest


def configured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the configuration of this test's user, who has said nothing else."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    for name in ("NATS", "NKEY", "CREDS", "CONTEXT", "PREFIX", "INBOX_PREFIX"):
        monkeypatch.delenv(f"PHASELINE_{name}", raising=False)
    (folder / "nats" / "context").mkdir(parents=True)
    for file in ("user.creds", "user.nk", "ca.pem"):
        (folder / file).touch()
    return folder


def write(home: Path, name: str, **fields: object) -> None:
    """Write a context of this name into a configuration folder."""
    (home / "nats" / "context" / f"{name}.json").write_text(
        json.dumps({"description": "", "tls_first": False, **fields})
    )

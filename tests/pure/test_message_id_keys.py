"""The ids that the server knows events by: which secret a publisher has, and what is hashed under it."""

from pathlib import Path

import pytest

from phaseline.engine.publish import message_id
from phaseline.schemas import envelope
from phaseline.schemas.errors import BadSetting
from tests.support.installation import Settings

PLAIN = envelope.message_id("pl.events.c1.cluster.create", "/agent/c1", "e-1")


def test_the_secret_comes_from_the_credentials(tmp_path: Path) -> None:
    (seed := tmp_path / "seed").write_text("SUAKYRHVIOREXV7EUZTBHUHL7NUMHPMAS7QMDU3GTIUWEI5LDNOXD43IZY\n")
    (creds := tmp_path / "creds").write_text(
        f"-----BEGIN NATS USER JWT-----\nab.cd.ef\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed.read_text()}------END USER NKEY SEED------\n"
    )
    (shared := tmp_path / "key").write_text("0123456789abcdef0123456789abcdef\n")
    (short := tmp_path / "short").write_text("0123456789abcde")
    key = message_id.key_of
    assert key(Settings()) == b""
    assert key(Settings(nkey=seed)) == key(Settings(creds=creds)) != b""
    assert key(Settings(nkey=seed, message_id_key=shared)) == b"0123456789abcdef0123456789abcdef"
    by_password = key(Settings(nats=("nats://a:secret@x",)))
    assert by_password == key(Settings(nats=("nats://b:secret@y",))) != key(Settings(nats=("nats://token@y",)))
    assert len({key(Settings()), key(Settings(nkey=seed)), by_password}) == 3
    with pytest.raises(BadSetting, match="holds 15 bytes, but a key has 16 to 64"):
        key(Settings(message_id_key=short))


def test_the_header_is_the_text_or_its_hash(tmp_path: Path) -> None:
    (shared := tmp_path / "key").write_text("0123456789abcdef0123456789abcdef\n")
    assert message_id.header(b"", PLAIN) == "pl.events.c1.cluster.create /agent/c1 e-1"
    # docs/upkeep.md tells users of other languages how this is made.
    assert (
        message_id.header(message_id.key_of(Settings(message_id_key=shared)), PLAIN)
        == "b11ac3f15773cf978d15910c1790c5d9"
    )

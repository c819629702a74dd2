"""Who calls a command, as the note in the log says it: without secrets."""

import getpass
from pathlib import Path

from phaseline.engine.publish.operations import operator
from tests.support.installation import Settings

ME = f"/phaseline/cli/{getpass.getuser()}"


def test_who_calls_is_said_without_secrets(tmp_path: Path) -> None:
    assert operator(Settings(nats=("nats://127.0.0.1:4222",))) == ME
    assert operator(Settings(nats=("nats://s3cret@127.0.0.1:4222",))) == ME
    assert operator(Settings(nats=("nats://li:s3cret@127.0.0.1:4222",))) == f"{ME} as NATS user li"
    (tmp_path / "operator.nk").touch()
    assert operator(Settings(nkey=tmp_path / "operator.nk")) == f"{ME} as NATS user operator"

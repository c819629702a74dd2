"""Settings: what is refused, and what follows from them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.settings import PATHS, Settings, shown_file
from phaseline.engine.surfaces import console
from phaseline.engine.surfaces.cli import options
from phaseline.engine.surfaces.cli.worker import OPTIONS, worker
from phaseline.engine.surfaces.http.access import tokens
from phaseline.engine.worker.worker_processes import options_of
from phaseline.schemas import libraries
from phaseline.schemas.errors import BadSetting


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prefix", "a..b"),
        ("prefix", "$JS"),
        ("prefix", ""),
        ("partitions", 0),
        ("partitions", 257),
        ("replicas", 2),
        ("nats", ()),
        ("nats", ("http://x",)),
        ("storage", "paper"),
        ("lease", 0.5),
        ("tls_ca", Path("/absent")),
        ("tls_cert", Path("/absent")),
        ("dedupe_window", 0),
        ("inbox_prefix", "a.>"),
    ],
)
def test_wrong_settings_are_refused(name: str, value: object) -> None:
    with pytest.raises(BadSetting, match=name):
        Settings(**{name: value})  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("secret", [f"SU{'A' * 56}", "eyJhbGciOi.e30.x", "-----BEGIN x\ny/z", "s3cr3tPa55wort"])
def test_a_secret_that_is_given_as_a_file_is_not_shown(name: str, secret: str) -> None:
    pair = {"tls_cert": "tls_key", "tls_key": "tls_cert"}
    given: dict[str, Any] = {name: Path(secret), **({pair[name]: Path(__file__)} if name in pair else {})}
    with pytest.raises(BadSetting, match="is not a file") as told:
        Settings(**given)
    assert secret not in str(told.value)
    assert "keys/my engine.nk is not a file" in f"{shown_file(Path('keys/my engine.nk'))} is not a file"


def test_a_token_that_is_given_as_the_file_of_tokens_is_not_shown() -> None:
    with pytest.raises(BadSetting, match="cannot read") as told:
        tokens.Tokens(Path("phl_abcdef.x/y"))
    assert "abcdef" not in str(told.value)


def test_stream_names_follow_from_the_prefix() -> None:
    assert Settings(prefix="a.b").stream("LOG") == "a_b-LOG"


def test_a_worker_process_of_up_gets_the_settings_of_up(tmp_path: Path) -> None:
    key = tmp_path / "key.nk"
    key.touch()
    wanted = Settings(("nats://127.0.0.1:1",), nkey=key, prefix="a.b", lease=3.5, silence_after=90.0,
                      accept_tables="abc", accept_loss=True, connect_timeout=7.0, request_timeout=7.0)  # fmt: skip
    given = worker.make_context("worker", options_of(wanted)).params
    chosen = {name: given[name] for name in OPTIONS}
    assert replace(options.settings_of(given), **chosen) == wanted


def test_ctrl_c_while_the_command_is_loaded_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(libraries, "require", interrupted)
    with pytest.raises(SystemExit) as ended:
        console.main()
    assert ended.value.code == 130

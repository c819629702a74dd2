"""Contexts of the nats command: what they give, what goes before them, and what is refused."""

import json
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from phaseline.engine.surfaces.cli import connection, failures
from phaseline.engine.surfaces.client.nats_context import names
from tests.support.command_line import get, options
from tests.support.installation import DEFAULT_URL, Settings
from tests.support.nats_contexts import configured, write

SEED = f"SU{'A' * 56}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of this test's user."""
    return configured(tmp_path, monkeypatch)


def settings_of(*words: str) -> Settings:
    """The settings of a command line."""
    with get.make_context("get", ["cluster", "c1", *words]) as context:
        return options.settings_of(dict(context.params))


def test_a_context_describes_the_connection(home: Path) -> None:
    write(home, "prod", url="nats://a:4222, b:4222", user="ann", password="p@ss", ca=str(home / "ca.pem"),
          inbox_prefix="_INBOX_ann", jetstream_domain="hub", color_scheme="red")  # fmt: skip
    found = settings_of("--context", "prod", "--prefix", "edge")
    assert found.nats == ("nats://ann:p%40ss@a:4222", "nats://ann:p%40ss@b:4222")
    assert (found.tls_ca, found.inbox_prefix, found.api_prefix, found.prefix) == (
        home / "ca.pem", "_INBOX_ann", "$JS.hub.API", "edge"
    )  # fmt: skip
    write(home, "token", url="tls://a", token="t/1")
    assert settings_of("--context", "token").nats == ("tls://t%2F1@a",)
    write(home, "file", creds=str(home / "user.creds"), jetstream_api_prefix="pl.read")
    assert settings_of("--context", "file").creds == home / "user.creds"
    assert settings_of("--context", "file").api_prefix == "pl.read"


@pytest.mark.parametrize(
    ("words", "environment", "url", "nkey"),
    [
        (("--context", "prod"), {}, "nats://ann:x@a", None),
        ((), {"CONTEXT": "prod"}, "nats://ann:x@a", None),
        # An option goes before the context; a URL without a user is used with the context's user.
        (("--context", "prod", "--nats", "nats://b"), {}, "nats://ann:x@b", None),
        (("--context", "prod", "--nats", "nats://bob:y@b"), {}, "nats://bob:y@b", None),
        (("--context", "prod", "--nkey", "user.nk"), {}, "nats://a", "user.nk"),
        (("--context", "keyed", "--nats", "nats://bob:y@b"), {}, "nats://bob:y@b", None),
        # A context that an option names replaces what the environment says; one of the environment does not.
        (("--context", "prod"), {"NATS": "nats://b", "NKEY": "user.nk"}, "nats://ann:x@a", None),
        ((), {"CONTEXT": "prod", "NATS": "nats://b"}, "nats://ann:x@b", None),
        ((), {"CONTEXT": "prod", "NKEY": "user.nk"}, "nats://a", "user.nk"),
        # The selected context counts where it is asked for, and not otherwise.
        ((), {}, DEFAULT_URL, None),
        (("--context", "@selected"), {}, "nats://ann:x@a", None),
    ],
)
def test_what_goes_before_what(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    environment: Mapping[str, str],
    url: str,
    nkey: str | None,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "none"))
    monkeypatch.chdir(home)
    write(home, "prod", url="nats://a", user="ann", password="x")
    write(home, "keyed", url="nats://a", nkey=str(home / "user.nk"))
    (home / "nats" / "context.txt").write_text("prod\n")
    for name, value in environment.items():
        monkeypatch.setenv(f"PHASELINE_{name}", value)
    found = settings_of(*words)
    assert (found.nats, found.nkey) == ((url,), None if nkey is None else Path(nkey))


@pytest.mark.parametrize(
    ("name", "fields", "problem"),
    [
        ("prd", None, r"there is no context 'prd' \(did you mean prod\?\): .* has odd, prod"),
        ("../prod", None, "there is no context"),
        ("@selected", None, "no context is selected: run `nats context select`"),
        ("odd", {"nsc": "nsc://acme/orders"}, "the context 'odd' has nsc, which is not supported; supported are url,"),
        ("odd", {"tls_first": True}, "has tls_first, which is not supported"),
        ("odd", {"creds": "nsc://acme/orders/ann"}, r"has creds nsc://\.\.\., which is not supported"),
        ("odd", {"creds": "/nowhere.creds"}, "has creds: /nowhere.creds is not a file"),
        ("odd", {"user": 1}, "has user of the type int, which is no text"),
        ("odd", "no map", "holds no JSON object"),
    ],
)
def test_what_is_refused(home: Path, name: str, fields: object, problem: str) -> None:
    write(home, "prod", url="nats://a")
    file = home / "nats" / "context" / "odd.json"
    file.write_text(json.dumps({} if fields is None else fields))
    with pytest.raises(click.BadParameter, match=problem) as told:
        settings_of("--context", name)
    assert told.value.param_hint == "--context"
    file.write_text("{")
    with pytest.raises(click.BadParameter, match="cannot be read"):
        settings_of("--context", "odd")


@pytest.mark.parametrize("field", ["creds", "nkey", "key", "password", "token"])
def test_a_secret_in_the_wrong_place_is_not_shown(home: Path, field: str) -> None:
    """Such as a seed where its file should be named, or a password in a list."""
    for value in ["s3cr3tPa55wort", SEED] if field in ("creds", "nkey", "key") else [["s3cr3tPa55wort"], {"a": SEED}]:
        write(home, "odd", **{field: value})
        with pytest.raises(click.BadParameter) as told:
            settings_of("--context", "odd")
        assert "s3cr3t" not in told.value.message
        assert SEED not in told.value.message


def test_a_shell_is_offered_the_contexts(home: Path) -> None:
    write(home, "prod", url="nats://a")
    assert names() == ["prod"]
    with get.make_context("get", ["cluster", "c1"]) as context:
        offered = connection.ContextType().shell_complete(context, get.params[0], "")
    assert [one.value for one in offered] == ["@selected", "prod"]
    assert failures.hint_of_context(DEFAULT_URL) == ""
    (home / "nats" / "context.txt").write_text("prod")
    assert failures.hint_of_context(DEFAULT_URL).endswith("--context prod uses it")
    assert failures.hint_of_context("nats://b") == ""

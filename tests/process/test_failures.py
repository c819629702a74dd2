"""What a command says and how it ends where the server, the user or a file is wrong: the same for all commands."""

import asyncio
import contextlib
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from phaseline.schemas.errors import Exit, every
from tests.support import closed_port
from tests.support.certificates import CertificateAuthority
from tests.support.command import MODULE, Shell, call
from tests.support.command_line import failures
from tests.support.installation import EmbeddedServer
from tests.support.tcp_proxy import proxy_to

USERS = """accounts {
  A { jetstream: enabled, users: [
    {user: admin, password: secret}
    {user: mute, password: secret, permissions: {publish: {deny: ">"}, subscribe: "_INBOX.>"}}
    {user: deaf, password: secret, permissions: {subscribe: {deny: "_INBOX.>"}}}
  ]}
  B { users: [ {user: poor, password: secret} ] }
}
"""
COMMANDS = (("get", "cluster", "c1"), ("list",), ("publish", "cluster", "create", "c1"), ("doctor",))
PYTHON = re.compile(r"\b[A-Z]\w*(Error|Exception)\b|Traceback|<class|<\w+ object|_ssl\.c|\[Errno|SSL:")
"""What only people who know Python understand."""


class Configured(EmbeddedServer):
    """A server with further lines of configuration."""

    def __init__(self, more: str, *, jetstream: bool = True) -> None:
        super().__init__()
        self._more, self._jetstream = more, jetstream

    def _config(self) -> str:
        lines = super()._config().splitlines()
        return "\n".join([*(line for line in lines if self._jetstream or "jetstream" not in line), self._more, ""])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded() -> AsyncIterator[str]:
    """Host and port of a server with several users."""
    async with Configured(USERS) as server:
        yield server.url.removeprefix("nats://")


@contextlib.asynccontextmanager
async def listening(says: bytes) -> AsyncIterator[str]:
    """A URL where something listens that is no NATS server. says: what it says at first."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def all_end(code: Exit, words: str, *options: str, calls: tuple[tuple[str, ...], ...] = COMMANDS) -> None:
    """Every command ends with this code, and says these words once, in words that people understand."""
    for command in calls:
        ended, out, err = await call(*command, *options)
        said = out + err
        assert ended == code, (command, said)
        assert said.count(words) == 1, (command, said)
        assert not PYTHON.search(said), (command, said)
        assert command == ("doctor",) or not out, said
        assert command == ("doctor",) or code == Exit.WRONG_INPUT or "`phaseline doctor`" in err, said


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("user", "code", "words"),
    [
        ("admin:wrong@", Exit.NOT_ALLOWED, "refuses the user 'admin': the name or the password is wrong"),
        ("token@", Exit.NOT_ALLOWED, "refuses the token of the URL: it is wrong"),
        ("", Exit.NOT_ALLOWED, "refuses a user without a name: it takes only users that it knows"),
        ("deaf:secret@", Exit.NOT_ALLOWED, "may not receive answers on _INBOX."),
        ("poor:secret@", Exit.NOT_SET_UP, "JetStream is off for the account of this NATS user"),
        ("admin:secret@", Exit.NOT_SET_UP, "the prefix 'pl' has no streams: run `phaseline up` or `phaseline worker`"),
    ],
)
async def test_a_user_who_cannot_work_is_told_why(guarded: str, user: str, code: Exit, words: str) -> None:
    await all_end(code, words, "--nats", f"nats://{user}{guarded}", "--timeout", "1")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_missing_right_names_the_subject(guarded: str) -> None:
    asked = ("--nats", f"nats://mute:secret@{guarded}")
    reads = "may not publish to $JS.API.STREAM.INFO.pl-EVENTS"
    await all_end(Exit.NOT_ALLOWED, reads, *asked, calls=(*COMMANDS[:2], ("doctor",)))
    await all_end(Exit.NOT_ALLOWED, "may not publish to pl.events.c1.cluster.create", *asked, calls=COMMANDS[2:3])


async def test_a_server_without_jetstream_is_named() -> None:
    async with Configured("", jetstream=False) as server:
        await all_end(Exit.NOT_SET_UP, f"{server.url} has no JetStream: start it with", "--nats", server.url)


async def test_a_server_that_is_too_old_is_named(server: EmbeddedServer) -> None:
    async with proxy_to(server.port) as proxy:
        proxy.change = lambda data: re.sub(rb'"version":"[0-9.]+"', b'"version":"2.10.29"', data)
        old = ("--nats", f"nats://127.0.0.1:{proxy.port}", "--prefix", "old")
        words = "the NATS server has version 2.10.29, but 2.15 or newer is needed: upgrade the server"
        await all_end(Exit.NOT_SET_UP, words, *old, calls=(("get", "cluster", "c1"), ("list",), ("doctor",)))
        ended, _, said = await call("worker", *old)
        assert (ended, words in said) == (Exit.NOT_SET_UP, True)


async def test_where_no_server_is() -> None:
    await all_end(Exit.NO_ANSWER, f"{closed_port.ADDRESS}: nothing listens there", "--nats", closed_port.NATS)
    await all_end(Exit.NO_ANSWER, "there is no host of this name", "--nats", "nats://nowhere.invalid:4222")
    async with listening(b"SSH-2.0-OpenSSH_9.7\r\n") as url:
        await all_end(Exit.NO_ANSWER, "what listens there is no NATS server", "--nats", url, calls=COMMANDS[:1])


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("publish clustr create c1", "kind 'clustr' is unknown"),
        ("publish cluster creat c1", "(did you mean create?)"),
        ("publish cluster create c1/x", "whose ids are <cluster>"),
        ("publish --file nothing.jsonl", "nothing.jsonl, beginning: No such file"),
        ("get clustr c1", "there is no kind 'clustr' (did you mean cluster?)"),
        ("list clustr", "there is no kind 'clustr'"),
        ("list cluster --state Runing", "there is no state 'Runing' (did you mean Running?)"),
        ("watch --facet phas", "there is no facet 'phas'"),
        ("rejections retry --reason foo", "there is no reason 'foo'"),
        ("log import nothing", "File 'nothing' does not exist"),
    ],
)
async def test_a_wrong_name_is_said_before_a_server_is_asked(command: str, words: str) -> None:
    await all_end(Exit.WRONG_INPUT, words, "--nats", closed_port.NATS, calls=(tuple(command.split()),))


async def test_what_may_be_right_is_asked() -> None:
    commands = ("get node", "get Clusters c1", "list --state Abnormal", "publish clustr create c1 --force")
    calls = tuple(tuple(command.split()) for command in commands)
    await all_end(Exit.NO_ANSWER, "nothing listens there", "--nats", closed_port.NATS, calls=calls)


async def test_wrong_settings_of_tls(tmp_path: Path, server: EmbeddedServer) -> None:
    ours, theirs = CertificateAuthority(tmp_path / "ours"), CertificateAuthority(tmp_path / "theirs")
    certificate, key = ours.sign("server")
    tls = f'tls {{ cert_file: "{certificate}", key_file: "{key}", ca_file: "{ours.file}", verify: true }}'
    get = COMMANDS[:1]
    async with Configured(tls) as encrypted:
        nats, trusted = ("--nats", encrypted.url), ("--tls-ca", str(ours.file))
        await all_end(Exit.NOT_SET_UP, "no trusted authority signed", *nats, calls=(*get, ("doctor",)))
        await all_end(Exit.NOT_SET_UP, "no trusted authority signed", *nats, "--tls-ca", str(theirs.file), calls=get)
        await all_end(Exit.NOT_SET_UP, "wants a certificate of its clients", *nats, *trusted, calls=get)
        own = ("--tls-cert", str(certificate), "--tls-key", str(theirs.sign("other")[1]))
        await all_end(Exit.WRONG_INPUT, "must hold a certificate and its key", *nats, *trusted, *own, calls=get)
    await all_end(Exit.NOT_SET_UP, "does not offer it", "--nats", server.url, "--tls-ca", str(ours.file), calls=get)


@pytest.mark.parametrize(
    ("option", "words"),
    [("nkey", "holds no seed of a user"), ("creds", "a user's JWT and seed"), ("tls-ca", "must hold certificates")],
)
async def test_a_file_of_a_user_that_holds_something_else(tmp_path: Path, option: str, words: str) -> None:
    (tmp_path / "file").write_text("something else\n")
    calls = (*COMMANDS[:1], COMMANDS[-1])
    await all_end(Exit.WRONG_INPUT, words, f"--{option}", str(tmp_path / "file"), calls=calls)


SAME = {
    # By exit code: command lines that mean the same mistake.
    Exit.WRONG_INPUT: (
        "get nod c1/p/n1", "list nod", "history nod c1/p/n1", "watch nod --no-follow", "machines nod",
        "why c1/p/n1 --kind nod", "publish nod ready c1/p/n1", "snapshot cluster c1 --kind nod /dev/null",
        "get node c1", "history node c1", "purge resource a --yes", "publish node ready c1", "tree c1//x",
        "list node --state Broken", "watch node --state Broken --no-follow", "publish node raedy c1/p/n1",
        "get node c1/p/n1 --at whenever", "timeline c1 --clock event --from 3", "publish --file /nowhere", "replay --file /nowhere",
    ),
    Exit.NOT_FOUND: (
        "get node c1/p/n1", "tree c1", "history node c1/p/n1", "why c1/p/n1", "status a+b+c+d", "counts a/b/c",
        "rejections show 1", "get node c1/p/n1 --at now",
    ),
}  # fmt: skip


async def test_the_same_mistake_has_the_same_code_in_every_command(shell: Shell) -> None:
    for code, lines in SAME.items():
        for line, said in zip(lines, await asyncio.gather(*(shell(*line.split()) for line in lines)), strict=True):
            assert (said.code, said.out) == (code, ""), (line, said)
            assert not PYTHON.search(said.err), (line, said)


# Errors that are not ours


@pytest.mark.parametrize(
    ("raised", "code", "says"),
    [
        (KeyError("x"), Exit.BUG, "error: internal error outside of phaseline: 'x'; please report it, with what -v"),
        (OSError(28, "No space left on device"), Exit.NOT_SET_UP, "error: No space left on device\n"),
        (OSError(13, "Permission denied", "/etc/x"), Exit.NOT_SET_UP, "error: /etc/x: Permission denied\n"),
    ],
)
def test_other_errors_are_told_without_names_of_python(
    capsys: pytest.CaptureFixture[str], raised: Exception, code: Exit, says: str
) -> None:
    def work() -> int:
        raise raised

    assert failures.guarded(work, verbose=False) == code
    said = capsys.readouterr().err
    assert says in said
    assert not PYTHON.search(said)


def test_a_bug_is_placed(capsys: pytest.CaptureFixture[str]) -> None:
    assert failures.guarded(lambda: len(next(every(None)).details), verbose=False) == Exit.BUG  # type: ignore[arg-type]
    assert "internal error in schemas/errors.py, line " in capsys.readouterr().err


STREAMS = [
    ("kinds show node >&-", 6, "error: standard output: Bad file descriptor\n"),
    ("kinds show node >/dev/full", 6, "error: standard output: No space left on device\n"),
    ("help list >/dev/full", 6, "error: No space left on device\n"),
    ("kinds show nod 2>&-", 2, ""),
    ("kinds show nod 2>/dev/full", 2, ""),
    ("kinds show node <&- >&- 2>&-", 6, ""),
    ("kinds show node | head -1 >&2", 0, ""),
]


@pytest.mark.parametrize(("line", "code", "says"), STREAMS)
async def test_a_standard_stream_that_is_closed_or_full(line: str, code: int, says: str) -> None:
    """What cannot be printed is an error that names where; messages that nobody takes change no exit code."""
    shell = f"set -o pipefail; {shlex.join([sys.executable, '-m', MODULE])} {line}"
    told = {**os.environ, "PHASELINE_NATS": closed_port.NATS}
    started = await asyncio.create_subprocess_exec("bash", "-c", shell, stderr=asyncio.subprocess.PIPE, env=told)
    _, err = await started.communicate()
    assert (started.returncode, says in err.decode()) == (code, True), err
    assert "Traceback" not in err.decode()

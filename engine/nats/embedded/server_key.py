"""The key of an embedded server's only user: a file in its data directory, which the commands of that user find.

Belongs here: making the key, keeping it from other users of the machine, where commands look for it. Does not: starting
the server (`embedded`), keys that an operator gives (`Settings.nkey`).
For each port, a small file in the state directory of the user names the key of the server there. The key signs a
challenge. It is never sent, so a stranger's server on the same port learns nothing.
"""

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from phaseline.engine.settings import Settings
from phaseline.schemas.errors import SetupError

NAME = "phaseline"
"""The name of the key in the data directory. Its file holds an nkey seed, as other NATS clients read it."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a group and all others may do with a file."""


class ServerKey(msgspec.Struct, frozen=True):
    """The key of a server's user: its file, and the public part, which the server knows."""

    path: Path
    public: str


def prepare(data: Path) -> ServerKey:
    """Close a data directory to other users, and return its key, made at the first start. Raises `SetupError`."""
    data = data.resolve()
    remedy = "choose another directory, or let every user of the machine connect with --open"
    _check_owner(data, remedy)
    try:
        data.chmod(0o700)
    except OSError as error:
        raise _unsafe(
            path=data, problem=f"cannot be closed to others: {error.strerror or error}", remedy=remedy
        ) from error
    if data.stat().st_mode & OTHERS:
        raise _unsafe(path=data, problem="stays open to other users, because of its file system", remedy=remedy)
    from phaseline.engine.nats.accounts.keys import KeyFolder  # noqa: PLC0415  # it needs nkeys; only a server needs it

    keys = KeyFolder(data)
    keys.make(NAME)
    _check_private(keys.file(NAME))
    return ServerKey(keys.file(NAME), keys.public(NAME))


def announce(port: int, key: ServerKey | None) -> None:
    """Let commands of this user find the key of the server on that port; without a key, forget an old one."""
    path = _announcement(port)
    with suppress(FileNotFoundError):
        path.unlink()
    if key is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.parent.chmod(0o700)
    from phaseline.engine.regular_files import write_secret  # noqa: PLC0415  # only a server needs it

    write_secret(path, json.dumps({"nkey": str(key.path)}))


def withdraw(port: int, key: ServerKey) -> None:
    """Take back `announce`, unless another server has announced its key since."""
    path = _announcement(port)
    with suppress(OSError, ValueError):
        if json.loads(path.read_bytes()) == {"nkey": str(key.path)}:
            path.unlink()


def with_key(settings: Settings) -> Settings:
    """The settings with the key of our own server, if they lead to it without credentials. Raises `SetupError`."""
    port = _port_of(settings)
    if port is None:
        return settings
    path = _announcement(port)
    try:
        _check_private(path.parent)
        _check_private(path)
        key = Path(json.loads(path.read_bytes())["nkey"])
        _check_private(key)
    except FileNotFoundError:
        return settings
    except (ValueError, KeyError, TypeError) as error:
        remedy = "remove it, and start `phaseline up` again"
        raise _unsafe(path=path, problem="cannot be read", remedy=remedy) from error
    return replace(settings, nkey=key)


def _port_of(settings: Settings) -> int | None:
    """The port of a server on this machine, if the settings name one and no credentials; None otherwise."""
    if len(settings.nats) != 1 or settings.creds is not None or settings.nkey is not None:
        return None
    url = settings.nats[0]
    parts = urlsplit(url if "://" in url else f"nats://{url}")
    if parts.hostname not in LOOPBACK or parts.username is not None or parts.scheme != "nats":
        return None
    return parts.port or 4222


def _announcement(port: int) -> Path:
    """The file that names the key of the server on a port."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "phaseline" / "servers" / f"{port}.json"


def _unsafe(path: Path, problem: str, remedy: str) -> SetupError:
    return SetupError.key_unreadable(path=path, cause=f"it {problem}; {remedy}")


def _check_private(path: Path) -> None:
    """Raise `SetupError.key_unreadable` if others can read or replace a file, or have done so."""
    _check_owner(path, "remove it, and start `phaseline up` again")
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise _unsafe(path=path, problem="is a link", remedy="remove it, and start `phaseline up` again")
    if mode & OTHERS:
        problem = f"is open to other users (mode {stat.S_IMODE(mode):04o})"
        closed = "700" if stat.S_ISDIR(mode) else "600"
        remedy = f"run `chmod {closed}` on it; if others may have read it, remove it and start `phaseline up` again"
        raise _unsafe(path=path, problem=problem, remedy=remedy)


def _check_owner(path: Path, remedy: str) -> None:
    owner = path.lstat().st_uid
    if owner != os.geteuid():
        raise _unsafe(path=path, problem=f"belongs to another user (uid {owner})", remedy=remedy)

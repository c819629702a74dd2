"""Contexts of the `nats` command: named connections, each in a file of JSON.

Belongs here: where the files are, which fields are honoured, and how options go with a context. Does not: options of
the command (`surfaces.cli.options`).
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from phaseline.engine.settings import DEFAULT_URL, shown_file
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, did_you_mean

SELECTED = "@selected"
"""Stands for the context that `nats context select` selected."""
FIELDS = {
    "url": "nats",
    "creds": "creds",
    "nkey": "nkey",
    "ca": "tls_ca",
    "cert": "tls_cert",
    "key": "tls_key",
    "inbox_prefix": "inbox_prefix",
    "jetstream_api_prefix": "api_prefix",
}
"""By field of a context, the setting that it gives."""
FILES = ("creds", "nkey", "ca", "cert", "key")
OTHERS = ("user", "password", "token", "jetstream_domain")
"""Further fields that are honoured."""
IGNORED = ("name", "description", "color_scheme", "jetstream_event_prefix")
"""Fields that have no meaning for a connection of ours."""
USERS = ("creds", "nkey")
SETTINGS = ("nats", *USERS, "tls_ca", "tls_cert", "tls_key", "inbox_prefix", "api_prefix")
"""The settings that a context describes, whether it gives them or not."""
ELSEWHERE = re.compile(r"[a-z]+://")


def folder() -> Path:
    """The folder of the `nats` command: contexts are below it, and the name of the selected one."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "nats"


def names() -> list[str]:
    """The names of all contexts."""
    return sorted(path.stem for path in (folder() / "context").glob("*.json"))


def selected() -> str | None:
    """The name of the selected context; None if none is selected."""
    try:
        return (folder() / "context.txt").read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def applied(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a connection by that context. Those that are given go before what the context has.

    A given user replaces the user of the context, whatever names them. A given URL without a user is used with the user
    of the context, as `nats` does. Raises `BadSetting`.
    """
    fields = _read(name)
    found = {setting: fields[field] for field, setting in FIELDS.items() if fields.get(field)}
    if domain := fields.get("jetstream_domain"):
        found["api_prefix"] = f"$JS.{domain}.API"
    urls = str(given.get("nats") or found.get("nats") or DEFAULT_URL).split(",")
    names_user = any(name in given for name in USERS) or any(urlsplit(_whole(url)).username for url in urls)
    if names_user:
        found = {setting: value for setting, value in found.items() if setting not in USERS}
    else:
        urls = [_with_user(url.strip(), fields) for url in urls]
    return {**found, **given, "nats": ",".join(urls)}


def _read(name: str) -> dict[str, Any]:
    if name == SELECTED:
        chosen = selected()
        if chosen is None:
            raise _bad(f"no context is selected: run `nats context select`, or name one of {_known()}")
        name = chosen
    path = folder() / "context" / f"{name}.json"
    if "/" in name or not path.is_file():
        raise _bad(f"there is no context {name!r}{did_you_mean(name, names())}: {folder()}/context has {_known()}")
    try:
        fields = codec.decode_text(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _bad(f"{path} cannot be read: {error}") from None
    if not isinstance(fields, dict):
        raise _bad(f"{path} holds no JSON object")
    return _checked(name, {field: value for field, value in fields.items() if value not in ("", None, False, [])})


def _checked(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a context; raises `BadSetting` for one that is not honoured and would change the connection."""
    for field, value in fields.items():
        if field not in (*FIELDS, *OTHERS, *IGNORED):
            honoured = ", ".join((*FIELDS, *OTHERS))
            raise _bad(f"the context {name!r} has {field}, which is not supported; supported are {honoured}")
        if not isinstance(value, str):
            raise _bad(f"the context {name!r} has {field} of the type {type(value).__name__}, which is no text")
        if field in (*FILES, "password", "token") and ELSEWHERE.match(value):
            raise _bad(f"the context {name!r} has {field} {value.partition('://')[0]}://..., which is not supported")
        if field in FILES:
            fields[field] = str(Path(value).expanduser())
            if not Path(fields[field]).is_file():
                raise _bad(f"the context {name!r} has {field}: {shown_file(value)} is not a file")
    return fields


def _with_user(url: str, fields: Mapping[str, Any]) -> str:
    """The URL with the name and the password, or the token, of a context."""
    if name := fields.get("user"):
        user = f"{quote(name, safe='')}:{quote(fields.get('password', ''), safe='')}"
    elif token := fields.get("token"):
        user = quote(token, safe="")
    else:
        return url
    scheme, _, rest = _whole(url).partition("://")
    return f"{scheme}://{user}@{rest}"


def _whole(url: str) -> str:
    return url if "://" in url else f"nats://{url}"


def _known() -> str:
    return ", ".join(names()) or "none"


def _bad(problem: str) -> BadSetting:
    return BadSetting(name="context", problem=problem)

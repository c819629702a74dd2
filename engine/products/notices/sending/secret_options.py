"""The options of a receiver with what `${NAME}` and `${file:PATH}` in them stand for.

They are looked up for each message, so a secret that is renewed in a file counts at once. Nothing of it is kept.
Belongs here: looking up, which texts are secret. Does not: which options there are (`fold.read_receivers`).
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from phaseline.engine.products.notices.fold.read_receivers import SECRET, has_secret, url_mistakes
from phaseline.engine.products.notices.fold.rules import Receiver

MOST = 1 << 16
"""The most bytes of a file with a secret."""
FILE = "file:"
SECRETS = ("secret", "token", "password")
"""Options that are secret wherever they stand."""
LEAST = 8
"""Characters of a part of a URL that may be a secret."""


class LookedUp(NamedTuple):
    """Options of a receiver. secrets: the texts that are never shown."""

    options: Mapping[str, Any]
    secrets: tuple[str, ...]


class NotFoundSecret(ValueError):
    """Something that an option names is not there. The text may be shown."""


def looked_up(receiver: Receiver, environment: Mapping[str, str] | None = None) -> LookedUp:
    """The options of a receiver, complete. Raises `NotFoundSecret`."""
    secrets = list[str]()
    found = _in(receiver.options, os.environ if environment is None else environment, secrets)
    url = found.get("url")
    if isinstance(url, str):
        problem = next(iter(url_mistakes(url, allow_private=found.get("allow-private") is True)), None)
        if problem is not None:
            raise NotFoundSecret(problem)
        secrets += _of_url(url)
    secrets += [str(found[name]) for name in SECRETS if name in found]
    headers = found.get("headers")
    values = [str(one) for one in headers.values()] if isinstance(headers, Mapping) else []
    secrets += [part for one in values for part in (one, *one.split()[-1:])]
    return LookedUp(found, tuple(dict.fromkeys(one for one in secrets if one)))


def _in(part: Any, environment: Mapping[str, str], secrets: list[str]) -> Any:
    if isinstance(part, str):
        return SECRET.sub(lambda one: _value(one[1], environment, secrets), part) if has_secret(part) else part
    if isinstance(part, Mapping):
        return {name: _in(one, environment, secrets) for name, one in part.items()}
    return [_in(one, environment, secrets) for one in part] if isinstance(part, list) else part


def _value(name: str, environment: Mapping[str, str], secrets: list[str]) -> str:
    if name.startswith(FILE):
        found = _of_file(Path(name.removeprefix(FILE)))
    elif name in environment:
        found = environment[name].strip()
    else:
        raise NotFoundSecret(f"the environment has no {name}")
    if not found or any(ord(one) < 32 for one in found):
        raise NotFoundSecret(f"{name} is empty, or has several lines")
    secrets.append(found)
    return found


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST).decode().strip()
    except UnicodeDecodeError:
        raise NotFoundSecret(f"{path} is no text") from None
    except OSError as error:
        raise NotFoundSecret(f"{path} cannot be read: {error.strerror}") from None


def _of_url(url: str) -> list[str]:
    """What of a URL may be a secret: the user, and the longer parts of path and query, as webhooks have them."""
    parts = urlsplit(url)
    words = [parts.username or "", parts.password or "", parts.path, parts.query]
    words += [*parts.path.split("/"), *(pair.partition("=")[2] for pair in parts.query.split("&"))]
    long = [one for one in words if len(one) >= LEAST]
    return [*long, *(unquote(one) for one in long)]

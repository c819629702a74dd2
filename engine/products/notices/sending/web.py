"""One request by HTTP to a receiver of notices (needs the extra `notices`).

Redirects are not followed, nobody is asked at a private address unless that is allowed, and no more is read than fits.
Belongs here: the request, its limits, what the status means. Does not: bodies, what a service says in its answer
(`ways`).
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from phaseline.engine import outgoing
from phaseline.engine.products.notices.sending.addresses import guarded_socket
from phaseline.engine.products.notices.sending.attempts import Attempt, retry_after
from phaseline.schemas import codec, libraries
from phaseline.schemas.bounds import LEVELS

with libraries.needed("aiohttp", "sending notices"):
    import aiohttp

from yarl import URL

MOST = 1 << 16
"""The most bytes of an answer that are read."""
GONE = 410
OF_THE_MESSAGE = (400, 413, 414, 415, 422, 431)
"""What a receiver answers to a message that it does not like, though it would take others."""
_FAILURES = (aiohttp.ClientError, OSError, ValueError)


class WebAnswer(NamedTuple):
    """An answer. wait: the seconds that it asks for. body: as much of it as was read."""

    status: int
    reason: str
    wait: float
    body: bytes = b""

    @property
    def document(self) -> Mapping[str, Any]:
        """The map in the body; empty if there is none."""
        try:
            found = codec.decode_text(self.body, LEVELS)
        except ValueError:
            return {}
        return found if isinstance(found, Mapping) else {}


class NotReached(Exception):
    """There is no answer. Its text may be shown."""


async def post(
    url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, allow_private: bool, secrets: Iterable[str]
) -> WebAnswer:  # fmt: skip
    """The answer to one POST. Raises `NotReached`."""
    found: WebAnswer | None = None
    read = bytearray()
    connector = aiohttp.TCPConnector(
        use_dns_cache=False, force_close=True, socket_factory=partial(guarded_socket, allow_private=allow_private)
    )
    try:
        async with asyncio.timeout(seconds), aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None), skip_auto_headers=("Accept-Encoding",),
        ) as session:  # fmt: skip
            target = URL(url, encoded=url.isascii())
            async with session.post(target, data=body, headers=headers, allow_redirects=False) as answer:
                wait = retry_after(answer.headers.get("Retry-After", ""), time.time())
                found = WebAnswer(answer.status, answer.reason or "", wait)
                unpacking = outgoing.Unpacking(answer.headers.get("Content-Encoding") or "", MOST)
                async for piece in answer.content.iter_any():
                    for part in unpacking.take(piece):
                        read += part
    except TimeoutError:
        if found is None:
            raise NotReached(f"no answer within {seconds:g} s") from None
    except _FAILURES as error:
        if found is None:
            raise NotReached(outgoing.problem(error, secrets)) from None
    if found is None:
        raise NotReached("no answer")
    return found._replace(body=bytes(read))


def judged(answer: WebAnswer, secrets: Iterable[str]) -> Attempt:
    """What the status of an answer means."""
    status = f"{answer.status} {answer.reason}".strip()
    text = answer.body[: 4 * outgoing.LONGEST].decode(errors="replace")
    said = outgoing.said(f"{status}: {text}" if text.strip() else status, secrets)
    if 200 <= answer.status < 300:
        return Attempt("sent", said)
    if answer.status == GONE:
        return Attempt("refused", f"{said}; it wants nothing any more")
    if 300 <= answer.status < 400:
        return Attempt("failed", f"{outgoing.said(status, secrets)}: it redirects, which is not followed: write the"
                       " right url")  # fmt: skip
    return Attempt("failed", said, answer.wait, about_message=answer.status in OF_THE_MESSAGE)

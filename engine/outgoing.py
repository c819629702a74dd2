"""What we ask others for by HTTP: how much an answer may hold, how long it may take, and what of it is repeated.

Belongs here: unpacking within a bound, one request by URL, texts of others for messages and logs. A Kubernetes API
server is asked by `products.observe.kubernetes_api`, which uses this.
An answer is counted while it is unpacked, so a small one that unfolds to much takes no memory.
"""

import base64
import re
import socket
import string
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Self
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

PIECE = 1 << 16
LONGEST = 400
"""The most characters of a text of others that are repeated."""
EXCERPT = 1 << 16
"""The most bytes of an error that are read."""
MASK = "***"
SHORTEST = 4
"""Characters of a secret; shorter ones are part of many words."""
WORD = frozenset(f"{string.ascii_letters}{string.digits}+/-_%=")
"""The characters of a word in base64, also in a URL."""
URL_SAFE = {"+": "-", "/": "_"}
"""The characters of base64 that stand for others in a URL."""
PATTERNS = (
    (re.compile(r"\b(bearer|basic)(\s+|%20|\+)[^\s\"'<>,;]+", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?"), MASK),
    (re.compile(r"(://)[^/@\s]+@"), rf"\1{MASK}@"),
    (re.compile(r"\b((?:access_|id_|refresh_)?token|password|secret|api_?key)([\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]+",
                re.IGNORECASE), rf"\1\2{MASK}"),
)  # fmt: skip
"""What looks like a secret, though it is not one of ours: the scheme of a header, a JWT, the user of a URL, a field."""


class TooLarge(ValueError):
    """An answer holds more than it may."""


class Unpacking:
    """Unpacks the body of an answer piece by piece, and counts it.

    Raises `TooLarge`, and `ValueError` for a body that cannot be unpacked.
    """

    def __init__(self, encoding: str, most: int | None) -> None:
        """encoding: the header Content-Encoding. most: how many bytes the body may have; None for a stream."""
        word = encoding.strip().lower()
        if word not in ("", "identity", "gzip"):
            raise ValueError(f"the answer has the Content-Encoding {said(encoding)!r}, which nobody asked for")
        self._most, self._taken, self._sent = most, 0, 0
        self._packed = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if word == "gzip" else None

    def take(self, piece: bytes) -> Iterator[bytes]:
        """The unpacked bytes of the next piece, some at a time."""
        if self._packed is None:
            for at in range(0, len(piece), PIECE):
                yield self._counted(piece[at : at + PIECE])
            return
        self._sent += len(piece)
        self._check(self._sent - PIECE)  # what unfolds to nothing has an end too
        while piece and not self._packed.eof:
            try:
                found = self._packed.decompress(piece, PIECE)
            except zlib.error as error:
                raise ValueError(f"the answer cannot be unpacked: {error}") from None
            yield self._counted(found)
            piece = self._packed.unconsumed_tail

    def _counted(self, found: bytes) -> bytes:
        self._taken += len(found)
        self._check(self._taken)
        return found

    def _check(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise TooLarge(f"the answer has more than {self._most:,} bytes")


def said(text: object, secrets: Iterable[str] = ()) -> str:
    """A text of others for a message or a log: one line of bounded length, without anything secret.

    secrets: what was sent to them. It is masked in the usual encodings too, and where the end of it was cut off.
    """
    found = " ".join(str(text)[:EXCERPT].split())
    for secret, is_packed in _forms(secrets):
        found = _without(found, _written(secret), WORD if is_packed else frozenset())
        cut = next((n for n in range(len(secret) - 1, SHORTEST, -1) if found.endswith(secret[:n])), 0)
        found = found[: len(found) - cut] + MASK if cut else found
    for pattern, mask in PATTERNS:
        found = pattern.sub(mask, found)
    found = "".join(one if one.isprintable() else "?" for one in found)
    return found if len(found) <= LONGEST else f"{found[:LONGEST]}..."


def problem(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """What went wrong, in the words of an exception of others."""
    return said(str(error) or type(error).__name__, secrets)


def _forms(secrets: Iterable[str]) -> list[tuple[str, bool]]:
    """Secrets as they may come back: as they are, and what a word in base64 has of them. Longer ones come first.

    Each comes with whether it is a part of such a word.
    """
    known = {one for one in (" ".join(one.split()) for one in secrets) if len(one) >= SHORTEST}
    packed = {part for one in known for part in _packed(one.encode(errors="replace")) if len(part) >= SHORTEST}
    return sorted({*((one, False) for one in known), *((one, True) for one in packed)}, key=_length, reverse=True)


def _length(form: tuple[str, bool]) -> tuple[int, str]:
    return len(form[0]), form[0]


def _packed(secret: bytes) -> Iterator[str]:
    """The characters that base64 has for a secret, by how many bytes stand before it in a group of three.

    So a user and a password are found that were packed into one word.
    """
    for before in range(3):
        word = base64.b64encode(bytes(before) + secret).decode()
        yield word[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]


def _without(text: str, secret: re.Pattern[str], around: frozenset[str]) -> str:
    """A text in which a secret is masked, with the characters around it that are among these."""
    found, at = list[str](), 0
    for hit in secret.finditer(text):
        begin, end = max(hit.start(), at), max(hit.end(), at)
        while begin > at and text[begin - 1] in around and text[begin - 1] != "=":
            begin -= 1
        while end < len(text) and text[end] in around:
            end += 1
        found += [text[at:begin], MASK] if end > at else []
        at = end
    return "".join([*found, text[at:]])


def _written(secret: str) -> re.Pattern[str]:
    """A secret, in which any character may be written as in a URL or in JSON."""
    forms = (
        {
            re.escape(one), re.escape(URL_SAFE.get(one, one)), rf"\u{ord(one):04x}",
            "".join(f"%{byte:02x}" for byte in one.encode(errors="replace")),
        }
        for one in secret
    )  # fmt: skip
    return re.compile("".join(f"(?:{'|'.join(sorted(one))})" for one in forms), re.IGNORECASE)


def fetch(url: str, most: int, seconds: float, is_trusted: Callable[[str], bool]) -> bytes:
    """The body at a URL, which has at most so many bytes and is there within so many seconds.

    is_trusted: whether a URL may be asked to which the answer redirects. Raises `OSError`, `HTTPException`,
    `ValueError`, `TooLarge`.
    """
    with _Limit(seconds) as limit:
        opener = build_opener(_Plain(limit), _Tls(limit), _Redirects(is_trusted))
        request = Request(url, headers={"Accept-Encoding": "gzip"})  # noqa: S310  # is_trusted says which are asked
        try:
            with opener.open(request, timeout=seconds) as answer:
                found = b"".join(_body(answer, most))
        except (OSError, HTTPException) as error:
            if isinstance(error, HTTPError):
                error.close()
            limit.check()
            raise
        limit.check()
        return found


def _body(answer: Any, most: int) -> Iterator[bytes]:
    unpacking = Unpacking(answer.headers.get("Content-Encoding") or "", most)
    while piece := answer.read1(PIECE):
        yield from unpacking.take(piece)


class _Line(HTTPConnection):
    """A connection that ends when the time is over."""

    watch: Callable[[socket.socket], None]

    def connect(self) -> None:
        super().connect()
        self.watch(self.sock)


class _TlsLine(HTTPSConnection, _Line):
    """The same by TLS, which begins when the connection is watched already."""


class _Limit:
    """Ends the connections of a request when its time is over, whatever they are waiting for."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._lines = seconds, list[socket.socket]()
        self._over = threading.Event()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        for line in self._lines:
            line.close()

    def line(self, sort: type[_Line]) -> Callable[..., _Line]:
        """What makes a connection that ends with this limit."""

        def made(host: str, **given: Any) -> _Line:
            found = sort(host, **given)
            found.watch = self.watch
            return found

        return made

    def watch(self, line: socket.socket) -> None:
        """Watch a connection. A copy of its handle is kept: TLS takes the connection itself."""
        self._lines.append(line.dup())
        self.check()

    def check(self) -> None:
        """Raise `TimeoutError` if the time is over."""
        if self._over.is_set():
            raise TimeoutError(f"no whole answer within {self._seconds:g} s")

    def _end(self) -> None:
        self._over.set()
        for line in self._lines:
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:  # it ended by itself
                continue


class _Plain(HTTPHandler):
    def __init__(self, limit: _Limit) -> None:
        super().__init__()
        self._line: Any = limit.line(_Line)

    def http_open(self, req: Request) -> Any:
        return self.do_open(self._line, req)


class _Tls(HTTPSHandler):
    def __init__(self, limit: _Limit) -> None:
        super().__init__()
        self._line: Any = limit.line(_TlsLine)

    def https_open(self, req: Request) -> Any:
        return self.do_open(self._line, req)


class _Redirects(HTTPRedirectHandler):
    """Follows a redirect to what may be asked only."""

    def __init__(self, is_trusted: Callable[[str], bool]) -> None:
        self._is_trusted = is_trusted

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme not in ("http", "https") or not self._is_trusted(newurl):
            raise URLError(f"it redirects to {said(newurl)}, which is not asked")
        return super().redirect_request(req, fp, code, msg, headers, newurl)

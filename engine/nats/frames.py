"""The NATS client protocol: frames to send, frames received, header blocks (docs.nats.io, Client Protocol).

Belongs here: pure building and parsing of bytes. Does not: sockets, subscriptions, what a header means.
Subjects and header values are text. Bytes that are not UTF-8 become lone surrogates, and go out as the same bytes.
"""

from collections.abc import Callable, Mapping

Headers = Mapping[str, str]
Control = Callable[[bytes], None]
Delivery = Callable[[int, str, bytes, bytes | None, str], None]
"""Called with subscription id, subject, data, raw header block or None, reply subject or ""."""

STATUS = "Status"
DESCRIPTION = "Description"
ERROR, CODE = "Nats-Service-Error", "Nats-Service-Error-Code"
"""The headers that say that the answer of a NATS service is an error."""
MAX_LINE = 64 * 1024
MESSAGES = (b"HMSG ", b"MSG ")
"""The beginnings of the lines of messages, with and without headers. All other lines are control lines."""


class BadFrame(ValueError):
    """A frame breaks the NATS protocol: one that the server sent, or one that we were about to send."""


def frame(subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> bytes:
    """A PUB or HPUB frame; raises `BadFrame` if the subject has a blank or a header has a line break."""
    if " " in subject or "\n" in subject or "\r" in subject or "\t" in subject or not subject:
        raise BadFrame(f"subject {subject[:64]!r} is empty or holds blanks")
    if not headers:
        return f"PUB {subject} {reply} {len(data)}\r\n".encode(errors="surrogateescape") + data + b"\r\n"
    block = header_block(headers)
    head = f"HPUB {subject} {reply} {len(block)} {len(block) + len(data)}\r\n"
    return head.encode(errors="surrogateescape") + block + data + b"\r\n"


def header_block(headers: Headers) -> bytes:
    """The `NATS/1.0` header block, with the blank line at its end."""
    text = "\r\n".join([f"{name}: {value}" for name, value in headers.items()])
    if text.count("\n") != len(headers) - 1 or text.count("\r") != len(headers) - 1:
        raise BadFrame("a header holds a line break")
    return f"NATS/1.0\r\n{text}\r\n\r\n".encode(errors="surrogateescape")


def read_headers(block: bytes) -> dict[str, str]:
    """The headers in a block. An inline status becomes `Status` and `Description`, and nothing else does.

    The last of equal names counts: the server appends its own after those of whoever sent the message.
    """
    lines = block.decode(errors="surrogateescape").split("\r\n")
    headers: dict[str, str] = {}
    status = lines[0][8:].strip()
    if status:
        headers[STATUS], _, description = status.partition(" ")
        if description:
            headers[DESCRIPTION] = description.strip()
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon and (name := name.strip()) not in (STATUS, DESCRIPTION):
            headers[name] = value.strip()
    return headers


class Parser:
    """Splits the received bytes into messages and control lines; calls `deliver` and `control` for them, in order."""

    def __init__(self, deliver: Delivery, control: Control) -> None:
        self._deliver = deliver
        self._control = control
        self._rest = bytearray()
        """The beginning of a frame that is not complete."""
        self._need = 0
        """How many bytes of it there must be before another look at it is worth its time."""

    def parse(self, data: bytes) -> None:
        """Parse received bytes; raises `BadFrame`."""
        block = data
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return
            block = bytes(self._rest)
        self._need = 0
        self._rest = bytearray(block[self._split(block) :])

    def _split(self, block: bytes) -> int:
        """Deliver all frames of a block; returns where the first incomplete one begins."""
        begin, length = 0, len(block)
        while begin < length:
            end = block.find(b"\r\n", begin)
            if end < 0:
                if length - begin > MAX_LINE:
                    raise BadFrame(f"no end of line within {MAX_LINE} bytes after {block[begin : begin + 80]!r}")
                break
            if not block.startswith(MESSAGES, begin):
                self._control(block[begin:end])
                begin = end + 2
                continue
            after = self._message(block, begin, end, length)
            if after < 0:
                self._need = -after - begin
                break
            begin = after
        return begin

    def _message(self, block: bytes, begin: int, end: int, length: int) -> int:
        """Deliver the message whose line is `block[begin:end]`; returns its end, negative where bytes are missing."""
        words = str(block[begin:end], "utf-8", "surrogateescape").split(" ")
        try:
            size = int(words[-1])
            head = int(words[-2]) if words[0] == "HMSG" else 0
            sid = int(words[2])
        except (ValueError, IndexError) as error:
            raise BadFrame(f"malformed line {block[begin:end][:80]!r}") from error
        start = end + 2
        stop = start + size
        if stop + 2 > length:
            return -(stop + 2)
        if head:
            reply = words[3] if len(words) == 6 else ""
            self._deliver(sid, words[1], block[start + head : stop], block[start : start + head], reply)
        else:
            self._deliver(sid, words[1], block[start:stop], None, words[3] if len(words) == 5 else "")
        return stop + 2

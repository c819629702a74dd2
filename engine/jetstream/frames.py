"""The NATS client protocol as bytes: frames to send, frames received, header blocks (docs.nats.io: Client Protocol).

Belongs here: pure building and parsing. Does not: sockets, subscriptions, what any header means.
Subjects and header values are text that may hold lone surrogates: those stand for bytes that are no UTF-8.
"""

from collections.abc import Awaitable, Callable, Mapping

Headers = Mapping[str, str]
Control = Callable[[bytes], Awaitable[None]]
Delivery = Callable[[int, str, bytes, bytes | None, str], None]
"""Called with subscription id, subject, data, raw header block or None, reply subject or ""."""

STATUS = "Status"
DESCRIPTION = "Description"
MAX_LINE = 64 * 1024


class BadFrame(ValueError):
    """The peer sent what is no NATS frame, or we were about to."""


def frame(subject: str, data: bytes, headers: Headers | None = None, reply: str = "") -> bytes:
    """One PUB or HPUB frame; raises `BadFrame` where a line break or blank would end a line early."""
    if " " in subject or "\n" in subject or "\r" in subject or "\t" in subject or not subject:
        raise BadFrame(f"subject {subject[:64]!r} is empty or holds blanks")
    if not headers:
        return f"PUB {subject} {reply} {len(data)}\r\n".encode(errors="surrogateescape") + data + b"\r\n"
    block = header_block(headers)
    head = f"HPUB {subject} {reply} {len(block)} {len(block) + len(data)}\r\n"
    return head.encode(errors="surrogateescape") + block + data + b"\r\n"


def header_block(headers: Headers) -> bytes:
    """The `NATS/1.0` block, blank line included."""
    text = "\r\n".join([f"{name}: {value}" for name, value in headers.items()])
    if text.count("\n") != len(headers) - 1 or text.count("\r") != len(headers) - 1:
        raise BadFrame("a header holds a line break")
    return f"NATS/1.0\r\n{text}\r\n\r\n".encode(errors="surrogateescape")


def read_headers(block: bytes) -> dict[str, str]:
    """A block's headers; an inline status becomes `Status` and `Description`. Of repeated names the first counts."""
    lines = block.decode(errors="surrogateescape").split("\r\n")
    found: dict[str, str] = {}
    status = lines[0][8:].strip()
    if status:
        found[STATUS], _, description = status.partition(" ")
        if description:
            found[DESCRIPTION] = description.strip()
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


class Parser:
    """Cuts a byte stream into deliveries (called at once) and control lines (awaited)."""

    def __init__(self, deliver: Delivery, control: Control) -> None:
        self._deliver = deliver
        self._control = control
        self._buffer = bytearray()
        self._need = 0

    def reset(self) -> None:
        """Forget a half received frame: a new connection begins."""
        self._buffer = bytearray()
        self._need = 0

    async def parse(self, data: bytes) -> None:
        """Take what arrived; raises `BadFrame` for what is no frame."""
        buffer = self._buffer
        buffer += data
        if len(buffer) < self._need:
            return
        self._need = 0
        while (line := self._advance()) is not None:
            await self._control(line)
            if self._buffer is not buffer:
                return

    def _advance(self) -> bytes | None:
        """Deliver up to the next control line and return that, or None when the rest is incomplete."""
        block = bytes(self._buffer)
        at, length = 0, len(block)
        line: bytes | None = None
        while at < length:
            end = block.find(b"\r\n", at)
            if end < 0:
                if length - at > MAX_LINE:
                    raise BadFrame("a line without an end")
                break
            op = block[at : at + 4]
            if op[:3] != b"MSG" and op != b"HMSG":
                line = block[at:end]
                at = end + 2
                break
            after = self._message(block, at, end, length)
            if after < 0:
                self._need = -after - at
                break
            at = after
        del self._buffer[:at]
        return line

    def _message(self, block: bytes, at: int, end: int, length: int) -> int:
        """Deliver the message whose line is `block[at:end]`; its end, or minus that where it is not all there."""
        words = block[at:end].decode(errors="surrogateescape").split(" ")
        try:
            size = int(words[-1])
            head = int(words[-2]) if words[0] == "HMSG" else 0
            sid = int(words[2])
        except (ValueError, IndexError) as error:
            raise BadFrame(f"malformed {block[at:end][:80]!r}") from error
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

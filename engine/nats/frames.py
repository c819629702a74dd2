"""The NATS client protocol: frames to send, frames received, header blocks (docs.nats.io, Client Protocol).

Belongs here: pure building and parsing of bytes. Does not: sockets, subscriptions, what a header means.
Subjects and header values are text. Bytes that are not UTF-8 become lone surrogates, and go out as the same bytes.
"""

from collections.abc import Callable, Mapping

Headers = Mapping[str, str]
Control = Callable[[bytes], None]
Received = tuple[str, bytes, bytes | None, str]
"""A message: its subject, its data, its raw header block or None, its reply subject or ""."""
Delivery = Callable[[int, list[Received]], None]
"""Called with the id of a subscription, and with messages for it that follow each other."""

STATUS = "Status"
DESCRIPTION = "Description"
ERROR, CODE = "Nats-Service-Error", "Nats-Service-Error-Code"
"""The headers that say that the answer of a NATS service is an error."""
MAX_LINE = 64 * 1024
MESSAGES = ("HMSG", "MSG")
"""The first words of the lines of messages, with and without headers. All other lines are control lines."""


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


LONGEST = 6
"""The words of the line of a message with headers and a reply subject, as nearly all have them."""


class Parser:
    """Splits the received bytes into messages and control lines; calls `deliver` and `control` for them, in order.

    Messages of one subscription that follow each other are delivered together.
    """

    def __init__(self, deliver: Delivery, control: Control) -> None:
        self._deliver = deliver
        self._control = control
        self._rest = bytearray()
        """The beginning of a frame that is not complete."""
        self._need = 0
        """How many bytes of it there must be before another look at it is worth its time."""
        self._run = list[Received]()
        """Messages that are not delivered yet, all of one subscription."""
        self._sid = 0
        """The id of that subscription."""

    def parse(self, data: bytes) -> None:
        """Parse received bytes; raises `BadFrame` once all before it is delivered."""
        block = data
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return
            block = bytes(self._rest)
        self._need = 0
        try:
            self._rest = bytearray(block[self._split(block) :])
        finally:
            self._pass_on()

    def _split(self, block: bytes) -> int:
        """Take all frames of a block; returns where the first incomplete one begins."""
        begin, length = 0, len(block)
        while begin < length:
            end = block.find(b"\r\n", begin)
            if end < 0:
                if length - begin > MAX_LINE:
                    raise BadFrame(f"no end of line within {MAX_LINE} bytes after {block[begin : begin + 80]!r}")
                break
            words = str(block[begin:end], "utf-8", "surrogateescape").split(" ")
            if words[0] not in MESSAGES:
                self._pass_on()
                self._control(block[begin:end])
                begin = end + 2
                continue
            try:
                _, subject, sid, reply, head, size = words if len(words) == LONGEST else _filled(words)
                start, number = end + 2, int(sid)
                body, stop = start + int(head), start + int(size)
            except ValueError as error:
                raise BadFrame(f"malformed line {block[begin:end][:80]!r}") from error
            if not start <= body <= stop:
                raise BadFrame(f"malformed line {block[begin:end][:80]!r}: no such sizes")
            if stop + 2 > length:
                self._need = stop + 2 - begin
                break
            if number != self._sid:
                self._pass_on()
                self._sid = number
            self._run.append((subject, block[body:stop], block[start:body] or None, reply))
            begin = stop + 2
        return begin

    def _pass_on(self) -> None:
        """Deliver what was taken."""
        if self._run:
            run, self._run = self._run, []
            self._deliver(self._sid, run)


def _filled(words: list[str]) -> list[str]:
    """The words of a line that lacks a reply subject or the size of headers, with what stands for none."""
    if words[0] == "MSG":
        words.insert(-1, "0")
    if len(words) < LONGEST:
        words.insert(3, "")
    return words

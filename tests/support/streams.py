"""What streams are read and changed with: readers, requests for one message, answers of the server.

Belongs here: what tests of several of these take from the engine. Does not: reading for tests (`log_check`), making
the streams of an installation (`installation`).
"""

from phaseline.engine.nats.api_reply import EXPECTED, Ack
from phaseline.engine.nats.direct_get import gather, last_message_from_leader
from phaseline.engine.nats.frames import read_headers
from phaseline.engine.nats.reader import BUFFER, BUFFER_BYTES, LEAST_BUFFER, Reader
from phaseline.engine.nats.stream_reader import DirectReader, StreamReader, read_all
from phaseline.engine.nats.stream_settings import change
from phaseline.engine.nats.stream_settings.change import CopyProgress, is_whole
from phaseline.engine.nats.stream_settings.fill import Fill, size
from phaseline.engine.nats.streams import reports

__all__ = [
    "BUFFER", "BUFFER_BYTES", "EXPECTED", "LEAST_BUFFER", "Ack", "CopyProgress", "DirectReader", "Fill", "Reader",
    "StreamReader", "change", "gather", "is_whole", "last_message_from_leader", "read_all", "read_headers", "reports", "size",
]  # fmt: skip

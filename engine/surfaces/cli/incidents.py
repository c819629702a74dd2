"""Warnings and errors of a running system as lines for people: what happened, what is done about it, what to do.

Belongs here: the sentences, and that one trouble is told once. Does not: log lines for collectors, and with -v
(`terminal`); the list of events (docs/watch-over.md).
"""

import time
from collections import defaultdict
from collections.abc import MutableMapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from phaseline.engine.surfaces.cli.controls import plain

AGAIN = 30.0
"""Seconds after which a trouble that goes on is told again."""
NATS, SERVER, DISK, SECRET, EACH = "nats", "server", "disk", "secret", ""
"""What several events tell of; of `EACH`, each is about a trouble of its own."""


class Sentence(NamedTuple):
    """What is said of an event. about: the trouble, if several events tell of the same. ends: whether it is over."""

    text: str
    about: str = ""
    ends: bool = False


TROUBLES: Final[dict[str, tuple[dict[str, str], dict[str, str]]]] = {
    NATS: ({
        "nats_silent":
            "NATS has not answered for {seconds} s, though the connection stands. Nothing new is shown meanwhile; it "
            "goes on by itself. If it lasts, `phaseline doctor` says what is wrong.",
        "nats_disconnected":
            "The connection to NATS is lost ({error}). It is made again. What was committed stays, and it goes on by "
            "itself.",
        "nats_unreachable":
            "NATS cannot be reached at {url} ({error}). It is tried again; `phaseline doctor` says what is wrong.",
        "log_without_leader":
            "The log has no leader, or NATS does not answer. Nothing new is shown meanwhile; it goes on by itself.",
        "lease_wait":
            "A worker cannot keep its share of the trees ({error}). It tries again. What was committed stays, and it "
            "goes on by itself.",
        "worker_waits": "A worker waits for NATS ({error}). What was committed stays, and it goes on by itself.",
        "serve_waits": "The page waits for NATS or for the installation ({error}), and then loads the states.",
        "partition_failed":
            "A worker got no answer from NATS for long ({error}). Its trees are taken up again. What was committed "
            "stays, and it goes on by itself.",
    }, {
        "nats_heard": "NATS answers again.",
        "nats_reconnected": "The connection to NATS is back.",
        "log_has_leader": "The log can be read again.",
    }),
    SERVER: ({
        "server_died":
            "The NATS server ended ({how}). It is started again in {seconds} s. What was committed stays. The log of "
            "the server says more.",
        "server_not_started": "The NATS server could not be started ({error}). It is tried again.",
    }, {
        "server_restarted": "The NATS server runs again.",
    }),
    DISK: ({
        "server_full":
            "The disk of the NATS server is full ({data}: {error}). Nothing is stored until there is room: make some,"
            " and it goes on by itself.",
        "commit_waits": "The NATS server has no room for a commit ({error}). It is tried until there is room.",
        "log_full":
            "The log is at its limit ({bytes} of {max_bytes} bytes): nothing is committed until there is room. "
            "`phaseline log archive` makes some, `phaseline admin streams` raises the limit.",
    }, {
        "server_has_room": "There is room again: the NATS server is started again.",
        "commit_goes_on": "There was room again after {seconds} s: commits go on.",
        "log_has_room": "The log has room again: commits go on.",
    }),
    EACH: ({
        "stream_almost_full": "The stream {stream} is {percent} % full. `phaseline log archive` makes room.",
        "worker_died":
            "A worker process ended ({how}). Another one is started in {seconds} s; others take its trees meanwhile.",
        "worker_faults": "A worker failed on whatever it decided ({error}), so it ends. Please report it.",
        "partition_refused":
            "A worker does not decide with these tables ({error}). `phaseline kinds check` says what they would "
            "change.",
        "partition_unreadable": "A share of the trees cannot be read ({error}): install the kind that is missing.",
        "partition_lost": "Another worker has taken over a share of the trees. Nothing was stored twice.",
        "event_parked":
            "An event was rejected as a fault: {kind}, rule {rule}: {error}. `phaseline rejections` shows it.",
        "slow_decision": "It took {milliseconds} ms to decide the event {kind}.{trigger} of {id}.",
        "key_not_announced":
            "Commands will not find the key by themselves: {path} cannot be written ({error}). Give them --nkey.",
        "fleet_from_log": "States were missing or foreign, so the page reads the whole log. That can take a while.",
    }, {}),
    SECRET: ({
        "secret_not_erased":
            "A Secret whose values are not masked could not be erased yet ({error}). It is tried again.",
    }, {}),
}  # fmt: skip
"""By trouble, by event: what is said of it, and what is said when it is over. Others are told by name and fields."""
SAID: Final = {
    name: Sentence(text, about, ends=texts is over)
    for about, (told, over) in TROUBLES.items()
    for texts in (told, over)
    for name, text in texts.items()
}
"""By event, what is said of it."""


class Incidents:
    """Remembers which troubles were told."""

    def __init__(self) -> None:
        self._told = dict[str, float]()
        """By trouble, or by sentence, when it was told last."""

    def line(self, method: str, event: MutableMapping[str, Any]) -> str | None:
        """The line for people of an event, which loses its name; None if nothing is to be said."""
        name = str(event.pop("event"))
        sentence = SAID.get(name)
        if sentence is None and method in ("debug", "info"):
            return None
        sentence = sentence or Sentence(_by_name(name, event).replace("{", "{{").replace("}", "}}"))
        text = sentence.text.format_map(defaultdict(lambda: "?", event))
        if not self._is_news(sentence, text):
            return None
        traceback = f"\n{event['exception']}" if event.get("exception") else ""
        return f"{datetime.now().astimezone():%H:%M:%S}  {plain(text)}{traceback}"

    def _is_news(self, sentence: Sentence, text: str) -> bool:
        """Whether it is to be said: a trouble again after a while, its end only if the trouble was said."""
        key, now = sentence.about or text, time.monotonic()
        last = self._told.pop(key, None)
        if sentence.ends:
            return last is not None
        is_news = last is None or now - last >= AGAIN
        self._told[key] = now if last is None or is_news else last
        return is_news


def _by_name(name: str, event: MutableMapping[str, Any]) -> str:
    """An event in words: `stream differs (stream pl-LOG, setting max_bytes)`."""
    skipped = ("level", "timestamp", "error", "exception", "worker", "partition")
    fields = ", ".join(f"{key} {value}" for key, value in event.items() if key not in skipped)
    error = f": {event['error']}" if event.get("error") else ""
    return f"{name.replace('_', ' ').capitalize()}{f' ({fields})' if fields else ''}{error}"

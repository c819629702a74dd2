"""The virtual server: who listens to what, and the parts of the JetStream API that workers and edges call.

Belongs here: requests and answers, subscriptions, consumers, a crash of the server. Does not: what a stream stores
(`stream`), what connects streams (`links`).
A call that no one answers here is an error of the simulation, and raises: a worker would take it for silence.
"""

import base64
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec import json

from phaseline.schemas.records import timestamp
from tests.support.simulation.connection import Frame, Network, Session, frames_in
from tests.support.simulation.links import CopyLink, Durable, FlowLink, Way
from tests.support.simulation.pulling import Puller
from tests.support.simulation.stream import SECOND, Answer, Kept, VirtualStream, fits, literal, matches, refusal
from tests.support.simulation.world import World

API, USER_INFO, INBOX = "$JS.API.", "$SYS.REQ.USER.INFO", "_INBOX."
NO_STREAM, NO_CONSUMER = refusal(404, 10059, "stream not found"), refusal(404, 10014, "consumer not found")
NO_MESSAGE = refusal(404, 10037, "no message found")
NEVER = "0001-01-01T00:00:00Z"
DEFAULTS: dict[str, Any] = {
    "subjects": [], "retention": "limits", "max_bytes": -1, "max_msgs": -1, "max_age": 0, "max_msgs_per_subject": -1,
    "discard": "old", "storage": "file", "num_replicas": 1, "duplicate_window": 120 * SECOND, "metadata": {},
}  # fmt: skip
SYNC = 2
"""Seconds between two writes to the disk: two minutes of a real server, in proportion to how long a schedule takes."""
Link = CopyLink | FlowLink


class Unknown(AssertionError):
    """The simulation lacks something."""


class VirtualServer:
    """One server. domain: its JetStream domain, if it is an edge's."""

    def __init__(self, world: World, name: str, domain: str = "") -> None:
        self.world, self.name, self.domain, self.network = world, name, domain, Network(world)
        self.is_up, self.is_clustered = True, False
        self.syncs_always = False
        """Whether it writes to its disk before it acknowledges; otherwise it does so every `SYNC` seconds."""
        self.streams: dict[str, VirtualStream] = {}
        self.pullers: dict[tuple[str, str], Puller] = {}
        self.durables: dict[str, Durable] = {}
        """By stream, the consumer by which another server takes it."""
        self.links: dict[str, dict[str, Link]] = {}
        """By stream, and by the source as JSON."""
        self.uplinks: dict[str, tuple[VirtualServer, Uplink]] = {}
        """By domain, the servers that are connected as leaf nodes."""
        self._sessions: list[Session] = []
        self._exact: dict[str, list[tuple[Session, int]]] = {}
        self._wild: list[tuple[str, str, Session, int]] = []
        world.servers[f"nats://{name}"] = self

    # ---- connections

    def joined(self, session: Session) -> None:
        """A client has connected."""
        self._sessions.append(session)

    def left(self, session: Session) -> None:
        """A connection has ended."""
        if session in self._sessions:
            self._sessions.remove(session)
        for sid in [*session.subscriptions]:
            self.unsubscribe(session, sid)

    def subscribe(self, session: Session, sid: int, subject: str, queue: str) -> None:
        """Send a client what comes on a subject."""
        session.subscriptions[sid] = subject, queue
        if _is_wild(subject):
            if subject.startswith(INBOX):
                raise Unknown(f"no subscription to {subject} in the simulation")
            self._wild.append((literal(subject), subject, session, sid))
        else:
            self._exact.setdefault(subject, []).append((session, sid))

    def unsubscribe(self, session: Session, sid: int) -> None:
        """End a subscription."""
        subject, _ = session.subscriptions.pop(sid, ("", ""))
        if not subject:
            return
        if _is_wild(subject):
            self._wild = [one for one in self._wild if one[2:] != (session, sid)]
        else:
            self._exact[subject].remove((session, sid))
            if not self._exact[subject]:
                del self._exact[subject]

    def cut_all(self, notice: Callable[[], float]) -> None:
        """Lose all connections."""
        for one in [*self._sessions]:
            one.cut(notice())

    @property
    def sessions(self) -> list[Session]:
        """The connections that are open."""
        return [*self._sessions]

    # ---- messages

    def received(self, buffer: bytes) -> None:
        """Take what a client has sent."""
        for frame in frames_in(buffer):
            for _ in range(self.network.copies(frame) if self.network.is_rough else 1):
                self.handle(frame)

    def handle(self, frame: Frame) -> None:
        """Take one message."""
        subject = frame.subject
        if subject.startswith("$JS."):
            if self.network.slow and self.world.dice.random() < self.network.slow:
                self.world.later(self.network.delay(), self._call_if_up, frame)
            else:
                self._call(frame)
        elif subject == USER_INFO:
            self._reply(frame.reply, {"data": {"account": "$G"}})
        else:
            self._publish(frame)

    def _publish(self, frame: Frame) -> None:
        taken = next((one for one in self.streams.values() if one.takes(frame.subject)), None)
        if taken is not None:
            answer = taken.publish(frame.subject, frame.data, frame.block)
            if answer is not None and frame.reply:
                if self.world.is_told:
                    self.world.tell(frame.subject, "->", taken.name, answer)
                self._reply(frame.reply, answer)
        heard = self._send(frame.subject, frame.subject, frame.data, frame.block, frame.reply)
        if taken is None and not heard and frame.reply:
            self._send(frame.reply, frame.reply, b"", b"NATS/1.0 503\r\n\r\n", "")

    def _reply(self, inbox: str, answer: Answer) -> None:
        """Send an answer to whatever subject the request named; a stream may store it there."""
        is_lost = self.network.unanswered and self.world.dice.random() < self.network.unanswered
        if inbox and not is_lost:
            data, is_rough = json.encode(answer), self.network.is_rough
            for _ in range(self.network.copies(Frame(inbox, inbox, data, None)) if is_rough else 1):
                if not inbox.startswith(INBOX):
                    self._store(inbox, data, None)
                self._send(inbox, inbox, data, None, "")

    def _store(self, subject: str, data: bytes, block: bytes | None) -> None:
        """Store an answer in a stream, because somebody has named a subject of it as the one to answer to."""
        for one in self.streams.values():
            if one.takes(subject):
                answer = one.publish(subject, data, block) or {}
                if "seq" in answer:
                    self.world.tell("foreign:", subject, one.name, answer["seq"])
                    one.foreign.add(answer["seq"])

    def _listeners(self, subject: str) -> list[tuple[Session, int]]:
        found = [*self._exact.get(subject, ()), *self._exact.get(f"{subject.rpartition('.')[0]}.*", ())]
        if subject.startswith(INBOX):
            return found
        for start, filter_, session, sid in self._wild:
            if subject.startswith(start) and fits(filter_, subject):
                found.append((session, sid))
        if len(found) < 2:
            return found
        groups: dict[str, list[tuple[Session, int]]] = {}
        for one in found:
            if queue := one[0].subscriptions[one[1]][1]:
                groups.setdefault(queue, []).append(one)
        for members in groups.values():
            for one in members:
                found.remove(one)
            found.append(self.world.dice.choice(members))
        return found

    def _send(self, inbox: str, subject: str, data: bytes, block: bytes | None, reply: str) -> bool:
        found = self._listeners(inbox)
        for session, sid in found:
            session.down(session.client.deliver, session, sid, subject, data, block, reply)
        return bool(found)

    def _deliver(self, inbox: str, subject: str, data: bytes, block: bytes | None, reply: str) -> bool:
        """Send a message of a stream, which may be lost, to whoever has asked for it."""
        if self.network.lost and self.world.dice.random() < self.network.lost:
            return True
        return self._send(inbox, subject, data, block, reply)

    def _answer(self, inbox: str, data: bytes, block: bytes) -> None:
        """Answer with what a stream holds."""
        if inbox.startswith(INBOX):
            self._deliver(inbox, inbox, data, block, "")
        else:
            self._store(inbox, data, block)

    # ---- the JetStream API

    def _call_if_up(self, frame: Frame) -> None:
        if self.is_up:
            self._call(frame)

    def _call(self, frame: Frame) -> None:
        if not frame.subject.startswith(API):
            self._call_far(frame)
            return
        verb, *rest = _parted(frame.subject[len(API) :])
        if verb == "CONSUMER.MSG.NEXT":
            found = self.pullers.get((rest[0], rest[1]))
            if found is not None:
                found.pull(frame.reply, frame.data)
            return
        if verb == "DIRECT.GET":
            self._direct(frame, rest)
            return
        body = json.decode(frame.data) if frame.data else {}
        answer = self.api(verb, rest, body)
        if self.world.is_told:
            self.world.tell(frame.subject, body if verb != "STREAM.CREATE" else "", "->", str(answer)[:200])
        self._reply(frame.reply, answer)

    def _call_far(self, frame: Frame) -> None:
        """Call the API of a leaf node, which answers through this server."""
        _, domain, rest = frame.subject.split(".", 2)
        far, uplink = self.uplinks.get(domain, (None, None))
        if far is None or uplink is None or not uplink.is_up or not far.is_up:
            self._send(frame.reply, frame.reply, b"", b"NATS/1.0 503\r\n\r\n", "")
            return
        body = json.decode(frame.data) if frame.data else {}
        verb, *words = _parted(rest.removeprefix("API."))
        answer = far.api(verb, words, body)
        if self.world.is_told:
            self.world.tell(far.name, frame.subject, body, "->", str(answer)[:200])
        self._reply(frame.reply, answer)

    def api(self, verb: str, rest: list[str], body: dict[str, Any]) -> Answer:
        """The answer to a call."""
        if verb == "INFO":
            return {"domain": self.domain}
        if verb == "STREAM.CREATE":
            return self._create(rest[0], body)
        if verb not in CALLS:
            raise Unknown(f"no {verb} in the simulation")
        stream = self.streams.get(rest[0])
        return NO_STREAM if stream is None else CALLS[verb](self, stream, *rest[1:], body)

    def _create(self, name: str, body: dict[str, Any]) -> Answer:
        if (found := self.streams.get(name)) is not None:
            return self._info(found, {}) if body == found.config else refusal(400, 10058, "stream name already in use")
        identity = f"id{self.world.dice.randrange(1 << 40):010x}"
        made = VirtualStream({**DEFAULTS, **body, "name": name}, self.world.time_ns, identity)
        made.at_expiry = lambda sequence, ns: self.world.later(ns / SECOND, made.remove, sequence)
        made.at_schedule = lambda sequence, due: self._schedule(made, sequence, due)
        self.streams[name] = made
        self._connect_sources(made)
        return self._info(made, {})

    def _schedule(self, stream: VirtualStream, sequence: int, due: int) -> None:
        """Let a schedule fire when it is due: the server looks four times a second."""
        late = self.world.dice.uniform(0.0, 0.25)
        self.world.later(max(0.0, (due - self.world.time_ns()) / SECOND) + late, self._fire, stream, sequence)

    def _fire(self, stream: VirtualStream, sequence: int) -> None:
        if self.is_up:
            stream.fire(sequence)

    def _update(self, stream: VirtualStream, body: dict[str, Any]) -> Answer:
        stream.config = {**DEFAULTS, **body, "name": stream.name}
        stream.learn()
        self._connect_sources(stream)
        return self._info(stream, {})

    def _connect_sources(self, stream: VirtualStream) -> None:
        links = self.links.setdefault(stream.name, {})
        wanted = {str(sorted(one.items())): one for one in stream.config.get("sources") or ()}
        for key in [one for one in links if one not in wanted]:
            links.pop(key).end()
        for key, source in wanted.items():
            if key not in links:
                links[key] = self._link(Way(stream, source), source)

    def _link(self, way: Way, source: dict[str, Any]) -> Link:
        name = source["name"]
        if "consumer" in source:
            raise Unknown("no consumer for a source in the simulation")
        if "external" not in source:
            return CopyLink(self, way, self.streams[name])
        domain = source["external"]["api"].removeprefix("$JS.").removesuffix(".API")
        return FlowLink(self, way, lambda: self.far_server(domain))

    def far_server(self, domain: str) -> "VirtualServer | None":
        """The server of a leaf node, if it can be reached."""
        far, uplink = self.uplinks.get(domain, (None, None))
        return None if far is None or uplink is None or not (uplink.is_up and far.is_up) else far

    def _info(self, stream: VirtualStream, _: dict[str, Any]) -> Answer:
        state = stream.state(self._former())
        for name in ("first_ts", "last_ts"):
            state[name] = NEVER if state[name] is None else timestamp(state[name])
        live = [one.info() for one in self.links.get(stream.name, {}).values()]
        return {
            "config": stream.config, "created": timestamp(stream.created_ns), "state": state,
            "sources": live, "ts": timestamp(self.world.time_ns()),
        }  # fmt: skip

    def _delete(self, stream: VirtualStream, _: dict[str, Any]) -> Answer:
        del self.streams[stream.name]
        for one in self.links.pop(stream.name, {}).values():
            one.end()
        self.durables.pop(stream.name, None)
        for key in [key for key in self.pullers if key[0] == stream.name]:
            self.pullers.pop(key).end()
        return {"success": True}

    def _purge(self, stream: VirtualStream, body: dict[str, Any]) -> Answer:
        seq = int(body.get("seq") or 0)
        gone = stream.purge(body.get("filter", ""), 0 if seq == 1 else seq, int(body.get("keep") or 0))
        if seq and not body.get("filter"):
            stream.go_on_from(seq)
        return {"success": True, "purged": gone}

    def _former(self) -> int:
        """Up to when the leader has got that answers, if it is a former one, ns; 0 if it is not."""
        elected = self.network.elected
        return elected if elected and self.world.dice.random() < self.network.former else 0

    def _get(self, stream: VirtualStream, body: dict[str, Any]) -> Answer:
        former = self._former()
        held = stream.held_at(former) if former else None
        found = stream.wanted(body, held)
        return NO_MESSAGE if found is None else {"message": _shown(found)}

    def _remove(self, stream: VirtualStream, body: dict[str, Any]) -> Answer:
        return {"success": True} if stream.remove(int(body["seq"])) else refusal(500, 10057, "stream store EOF")

    def _direct(self, frame: Frame, rest: list[str]) -> None:
        """Send stored messages, with the server's own headers behind theirs. Several have a last one after them."""
        stream, said = self.streams[rest[0]], "Message Not Found"
        behind = self.network.behind()
        held = stream.held_at(self.world.time_ns() - int(behind * SECOND)) if behind else None
        ask = {"last_by_subj": ".".join(rest[1:])} if rest[1:] else json.decode(frame.data)
        if "multi_last" in ask:
            filters, said = tuple(ask["multi_last"]), "No Results"
            up_to = int(ask.get("up_to_seq", stream.last))
            every = (one for one in (stream.messages if held is None else held).values() if one.sequence <= up_to)
            last = {one.subject: one for one in every if matches(filters, one.subject)}
            found = sorted(last.values(), key=lambda one: one.sequence)
        elif "batch" in ask:
            raise Unknown("no direct get of several messages in the simulation")
        else:
            one = stream.wanted(ask, held)
            found = [] if one is None else [one]
        if not found:
            self._answer(frame.reply, b"", f"NATS/1.0 404 {said}\r\n\r\n".encode())
        for left, one in zip(range(len(found) - 1, -1, -1), found, strict=True):
            more = f"\r\nNats-Stream: {stream.name}\r\nNats-Subject: {one.subject}\r\nNats-Sequence: {one.sequence}"
            more += f"\r\nNats-Time-Stamp: {timestamp(one.time_ns)}"
            more += f"\r\nNats-Num-Pending: {left}\r\n\r\n" if "multi_last" in ask else "\r\n\r\n"
            block = (one.block or b"NATS/1.0\r\n\r\n")[:-4] + more.encode()
            self._answer(frame.reply, one.data, block)
        if found and "multi_last" in ask:
            self._send(frame.reply, frame.reply, b"", b"NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\n\r\n", "")

    # ---- consumers

    def _pull(self, stream: VirtualStream, name: str, body: dict[str, Any]) -> Answer:
        key, config = (stream.name, name), body["config"]
        if key in self.pullers:
            return refusal(400, 10148, "consumer already exists")
        made = Puller(self.world, stream, {**config, "name": name}, self._deliver, self.network.behind())
        self.pullers[key] = made
        return {"config": config, "num_pending": len(made.waiting), "name": name}

    def _consumer(self, stream: VirtualStream, name: str, _: dict[str, Any]) -> Answer:
        puller = self.pullers.get((stream.name, name))
        return NO_CONSUMER if puller is None else {"config": puller.config, "num_pending": len(puller.waiting)}

    def _end_consumer(self, stream: VirtualStream, name: str, _: dict[str, Any]) -> Answer:
        puller = self.pullers.pop((stream.name, name), None)
        if puller is not None:
            puller.end()
        return NO_CONSUMER if puller is None else {"success": True}

    # ---- crashes

    def crash(self, notice: Callable[[], float]) -> None:
        """Be killed: what is stored stays, what is in memory alone is gone."""
        self.world.tell(self.name, "is killed")
        self.is_up = False
        self.cut_all(notice)
        for puller in self.pullers.values():
            puller.end()
        self.pullers.clear()
        for stream in self.streams.values():
            stream.crash()
        for durable in self.durables.values():
            durable.crash()
        for links in self.links.values():
            for one in links.values():
                one.crash()

    def lose_power(self, notice: Callable[[], float]) -> None:
        """Be killed, with all that is not on the disk. What was removed stays so."""
        if not self.syncs_always:
            synced = int(self.world.time_ns() / SECOND // SYNC * SYNC) * SECOND
            for stream in self.streams.values():
                stream.lose(synced)
        self.crash(notice)

    def start(self) -> None:
        """Run again."""
        if self.is_up:
            return
        self.world.tell(self.name, "runs again")
        self.is_up = True
        for links in self.links.values():
            for one in links.values():
                one.crash()
        for stream in self.streams.values():
            for sequence, due in stream.schedules.values():
                self._schedule(stream, sequence, due)


def _is_wild(subject: str) -> bool:
    """Whether `_wild` holds it: with a wildcard that does not stand for the one last word, as in an inbox."""
    return "*" in subject[:-2] or subject.endswith(">")


class Uplink:
    """The connection of a leaf node to its hub."""

    def __init__(self) -> None:
        self.is_up = True


@lru_cache(maxsize=1 << 12)
def _parted(call: str) -> list[str]:
    """The words of a call that say what it does, then the names in it."""
    words = call.split(".")
    for length in (2, 3, 1):
        verb = ".".join(words[:length])
        if verb in VERBS:
            return [verb, *words[length:]]
    raise Unknown(f"no {call} in the simulation")


CALLS: dict[str, Callable[..., Answer]] = {
    "STREAM.INFO": VirtualServer._info, "STREAM.UPDATE": VirtualServer._update, "STREAM.DELETE": VirtualServer._delete,
    "STREAM.PURGE": VirtualServer._purge, "STREAM.MSG.GET": VirtualServer._get,
    "STREAM.MSG.DELETE": VirtualServer._remove, "CONSUMER.CREATE": VirtualServer._pull,
    "CONSUMER.INFO": VirtualServer._consumer,
    "CONSUMER.DELETE": VirtualServer._end_consumer,
}  # fmt: skip
"""What answers a call that is about a stream."""
VERBS = {"INFO", "DIRECT.GET", "STREAM.CREATE", "CONSUMER.MSG.NEXT", *CALLS}


def _shown(found: Kept) -> dict[str, Any]:
    """A message as the API gives it."""
    hdrs = {} if found.block is None else {"hdrs": base64.b64encode(found.block).decode()}
    data = base64.b64encode(found.data).decode()
    return {"subject": found.subject, "seq": found.sequence, "time": timestamp(found.time_ns), "data": data, **hdrs}

"""Origins of edges' events: whatever is delivered again, and whenever a worker ends, each event is decided once."""

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.log.checkpoint import Checkpoint, EdgeOrigin, decode
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import layout_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.sites.arrivals import Arrivals
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.engine.worker.sites.origins import Origins, SavedOrigins, read
from phaseline.engine.worker.sites.uplink import Uplink


def block(edge: str, sequence: int, identity: str) -> bytes:
    """The header block of an event that EVENTS took from an inlet."""
    source = (
        f"pl-INLET-{edge}:C=AaNzj9qB {sequence} pl.events.*.> pl.inbox.x.> pl.events.{edge}.node identity-{identity}"
    )
    return f"NATS/1.0\r\nNats-Msg-Id: 1\r\nNats-Stream-Source: {source}\r\n\r\n".encode()


Message = tuple[str, int, int]
"""Edge, how often its inlet was made anew, and the sequence there."""


@st.composite
def histories(draw: st.DrawFn) -> list[Message | None]:
    """What EVENTS stores: runs of inlets that go on, go back, or are made anew; None is an event of nobody's edge."""
    found: list[Message | None] = []
    made = {"c1": 0, "c2": 0}
    last = {"c1": 0, "c2": 0}
    others = draw(st.sets(st.integers(1, 9)))  # sequences of events that are of another partition
    for _ in range(draw(st.integers(0, 12))):
        edge = draw(st.sampled_from(["c1", "c2"]))
        if draw(st.integers(0, 5)) == 0:
            made[edge], last[edge] = made[edge] + 1, 0
        first = draw(st.integers(1, last[edge] + 1))
        end = max(last[edge], first + draw(st.integers(0, 5)))
        found += [(edge, made[edge], sequence) for sequence in range(first, end + 1) if sequence not in others]
        last[edge] = end
        found += [None] * draw(st.integers(0, 2))
    return found


@given(histories(), st.data())
def test_each_event_is_decided_once_whenever_workers_end(history: list[Message | None], data: st.DataObject) -> None:
    events = {
        position: Stored("", b"", position, 0, 0, None if one is None else block(one[0], one[2], str(one[1])))
        for position, one in enumerate(history, 1)
    }
    decided: list[int] = []
    last, position = Checkpoint(), 0
    while position < len(history):
        # A worker takes over: what lone records say may be ahead of the checkpoint.
        origins = Origins("pl", SavedOrigins(last.origins, last.until or last.position))
        ahead, own = origins.start(position), position
        while own < len(history):
            after = ahead + data.draw(st.integers(1, 4))
            some = [events[one] for one in range(ahead, after) if one in events]
            again = {one.sequence for _, one in origins.repeats(some) if one.sequence > position}
            for gone in again:
                del events[gone]
            ahead = after
            fresh = [one.sequence for one in some if one.sequence > own and one.sequence not in again]
            decided += fresh
            own = max(own, ahead - 1)
            if origins.must_be_saved or data.draw(st.booleans()):
                saved = origins.save(own)
                last = decode(
                    Checkpoint(1, "w", own, origins=saved.origins, until=0 if saved.until == own else saved.until)
                    .encode_as("c")
                )  # fmt: skip
            if data.draw(st.integers(0, 3)) == 0:
                break
        position = own
    kept = [history[one - 1] for one in decided if history[one - 1] is not None]
    assert len(kept) == len(set(kept))
    assert set(kept) == {one for one in history if one is not None}


def test_only_inlets_have_origins() -> None:
    assert read("pl", block("c1", 7, "a")) == ("c1", EdgeOrigin("identity-a", 7))
    assert (
        read("pl", b"NATS/1.0\r\nNats-Stream-Source: pl-LOG 7 pl.fired.*.> pl.due.x.> pl.fired.c1.x abc\r\n\r\n")
        is None
    )
    without_identity = (
        b"NATS/1.0\r\nNats-Stream-Source: pl-INLET-c1 7 pl.events.*.> pl.inbox.x.> pl.events.c1.x\r\n\r\n"
    )
    assert read("pl", without_identity) is None
    assert read("pl", b"NATS/1.0\r\n\r\n") is None
    assert read("other", block("c1", 7, "a")) is None


async def test_nothing_is_missing_of_an_inlet_that_had_no_message() -> None:
    """The server says that its first message is of the year 1."""
    settings = Settings()
    state = {"messages": 0, "first_seq": 0, "last_seq": 0, "first_ts": "0001-01-01T00:00:00Z"}
    way = Uplink(Wire(settings), EdgeNames("pl", "c1"), own_account=False)
    inlet = {"created": "2026-03-02T08:00:00Z", "state": state}
    assert await Arrivals(layout_of(settings, 2)).missing(way, inlet, {}, 0) == []

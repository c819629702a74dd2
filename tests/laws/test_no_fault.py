"""No input makes a rule fail: hostile data through the core, with every kind that is built in."""

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.products.gitops.assess import assess, assess_all
from phaseline.engine.publish.event_file import EventFile
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.settings import from_options
from phaseline.engine.surfaces.cli.publish_many import EventChecker
from phaseline.machines.kinds.kubernetes.diff.canonical import quantity
from phaseline.machines.kinds.kubernetes.durations import NoDuration, seconds
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.schemas import codec, wire_codec, yaml_text
from phaseline.schemas.errors import BadSetting, InvalidInput, PhaselineError
from phaseline.schemas.records import SECOND
from tests.support import hostile
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.raising import raises

EFFORTS = [pytest.param(25, id="short"), pytest.param(3_000, marks=pytest.mark.slow, id="long")]


def search(examples: int, strategy: st.SearchStrategy[Any], law: Any) -> None:
    """Let Hypothesis look for an example that breaks the law."""

    def broken(example: Any) -> None:
        law(example)

    hypothesis_settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )(given(strategy)(broken))()  # fmt: skip


SEEDS = st.integers(0, 2**63)


@pytest.mark.parametrize("effort", EFFORTS)
def test_no_event_is_a_fault(effort: int) -> None:
    """Forty events on one tree; each record can be written and read, and the tree stays as the records say."""

    def law(seed: int) -> None:
        chance = random.Random(seed)
        processor = Processor(Tree(BUILT_IN_KINDS, shared_runner()), hostile.SUBJECTS, 0)
        events = []
        for number in range(1, 41):
            tail, body = hostile.event(BUILT_IN_KINDS, chance)
            events.append(StoredEvent(f"pl.inbox.0.{tail}", body, number, 1_700_000_000 * SECOND + number))
        while events:
            batch = processor.process(events, 0)
            for fault in batch.faults:
                raise fault.error
            for message in batch.messages:
                if ".timer." not in message.subject:
                    wire_codec.read(message.body)
                assert len(message.body) < 1_000_000
            del events[: batch.events]

    search(effort, SEEDS, law)


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_manifests_are_assessed(effort: int) -> None:
    def law(seed: int) -> None:
        chance = random.Random(seed)
        sides = [hostile.manifest(chance) for _ in range(2)]
        live, desired = (side if isinstance(side, dict) else {} for side in sides)
        rules = hostile.mutated(chance.choice(hostile.SETTINGS), chance)
        with suppress(PhaselineError):
            assess(live, desired, rules=rules if isinstance(rules, dict) else ())
        with suppress(PhaselineError):
            assess_all([live, desired], [desired])

    search(effort * 4, SEEDS, law)


TEXT = st.text("0123456789.eE+-numkMGTPEihs{}[],*?!\\", max_size=60) | st.sampled_from(hostile.TEXTS)


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_text_is_a_quantity_a_duration_a_glob_or_none(effort: int) -> None:
    def law(text: str) -> None:
        assert len(str(quantity(text))) <= max(len(text), 300)
        matches(text, text[:30])
        with suppress(NoDuration):
            assert abs(seconds(text)) < 2**34

    search(effort * 10, TEXT, law)


YAML = st.text("ab1:-?[]{},&*!|>'\"#% \n\t<~.0xe_", max_size=80)


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_text_is_yaml_or_is_none(effort: int) -> None:
    def law(text: str) -> None:
        with suppress(yaml_text.NotYaml):
            [*yaml_text.documents(text)]

    search(effort * 10, YAML | st.sampled_from(hostile.TEXTS) | st.binary(max_size=30), law)


def publishable(chance: random.Random) -> bytes:
    """The bytes of a file of events, of which some are damaged or odd."""
    wire = [hostile.event(BUILT_IN_KINDS, chance)[1] for _ in range(4)]
    events = [hostile.mutated(decoded(body), chance, 0.02) for body in wire]
    if chance.random() < 0.5:
        whole = b"\n".join(codec.encode_json(event) for event in events)
    else:
        whole = b"".join(map(msgpack_or_nothing, events))
    at = chance.randrange(len(whole) + 1)
    return [whole, whole[:at], whole[:at] + chance.randbytes(3) + whole[at:]][chance.randrange(3)]


def decoded(body: bytes) -> Any:
    try:
        return codec.decode(body)
    except codec.Undecodable:
        return {"specversion": "1.0"}


def msgpack_or_nothing(found: Any) -> bytes:
    try:
        return codec.encode(found)
    except (ValueError, OverflowError, TypeError):
        return b""


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_file_is_published_or_refused(effort: int) -> None:
    def law(seed: int) -> None:
        chance = random.Random(seed)
        events = EventFile("it")
        checker = EventChecker("it", hostile.SUBJECTS, BUILT_IN_KINDS if chance.random() < 0.7 else None)
        with suppress(InvalidInput):
            for part in (publishable(chance), b"", b"\n"):
                for found in events.feed(part):
                    checker.check(found)
            for found in events.end():
                checker.check(found)

    search(effort * 2, SEEDS, law)


def test_a_line_without_end_is_refused() -> None:
    events = EventFile("it")
    endless = (found for _ in range(100) for found in events.feed(b'{"a":"' + b"x" * (1 << 18)))
    with raises(InvalidInput.bad_event_file, match="more than 16,777,216 bytes"):
        next(endless, None)


NUMBERS = st.floats() | st.integers(-5, 500)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("nats", "inbox_prefix", "prefix", "accept_tables"), st.text(max_size=90)),
    **dict.fromkeys(("creds", "nkey", "tls_ca", "tls_cert", "tls_key"), st.text(max_size=5) | st.just("x" * 9_999)),
    **dict.fromkeys(("connect_timeout", "request_timeout", "dedupe_window", "events_max_age", "lease"), NUMBERS),
    "replicas": st.integers(),
    "partitions": st.integers() | st.none(),
}


@pytest.mark.parametrize("effort", EFFORTS)
def test_any_settings_are_taken_or_refused(effort: int) -> None:
    def law(given_options: dict[str, Any]) -> None:
        with suppress(BadSetting):
            settings = from_options(**given_options)
            assert settings.shown
            assert settings.stream("LOG")
            assert int((settings.events_max_age or 0) * SECOND) < 2**63

    search(effort * 4, st.fixed_dictionaries({}, optional=OPTIONS), law)

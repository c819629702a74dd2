"""No input makes a rule fail: hostile data through the core, with every kind that is built in."""

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from phaseline.engine.assess import assess, assess_all
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.errors import PhaselineError
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.kubernetes import manifest
from phaseline.machines.kubernetes.diff.canonical import quantity
from phaseline.machines.kubernetes.durations import NoDuration, seconds
from phaseline.machines.kubernetes.globs import matches
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND
from tests.support import hostile
from tests.support.built_in_kinds import BUILT_IN_KINDS

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
        with suppress(manifest.NotYaml):
            [*manifest.documents(text)]

    search(effort * 10, YAML | st.sampled_from(hostile.TEXTS) | st.binary(max_size=30), law)

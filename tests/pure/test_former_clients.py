"""Clients of former versions with workers of this one, and the reverse, by the bytes that each version sends.

`tests/golden/clients` has a file for each version since the first release. The file of a released version is never
changed. Until then, after an intended change, `PHASELINE_GOLDEN=write pytest tests/pure/test_former_clients.py` writes
that of the present version again; read the diff. docs/compatibility.md says what is promised.
"""

import json
import os
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.answering import IndexedPartition, QuestionRefused, Questions
from phaseline.engine.log.questions.question import OwnerAnswer, Question, decode, encode, meaning_of
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.version import __version__
from tests.support import client_bytes
from tests.support.built_in_kinds import BUILT_IN_KINDS

KEPT = client_bytes.kept()
BYTES = ("events", "questions", "answers")
"""What is the same to the byte. Of names there may be more than were kept."""
ALL = [pytest.param(version, id=version) for version in KEPT]


def test_what_this_version_sends_is_kept() -> None:
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        text = json.dumps(client_bytes.made(), indent=1, ensure_ascii=False)
        (client_bytes.FOLDER / f"{__version__}.json").write_text(f"{text}\n", encoding="utf-8")
        return
    assert __version__ in KEPT, (
        "a new version: PHASELINE_GOLDEN=write .venv/bin/pytest tests/pure/test_former_clients.py"
    )
    made, kept = client_bytes.made(), KEPT[__version__]
    assert {name: made[name] for name in BYTES} == {name: kept[name] for name in BYTES}
    assert [one for one in KEPT[__version__]["events"] if "refused" in one["taken"]] == []


@pytest.mark.parametrize("version", ALL)
def test_a_worker_takes_what_clients_of_that_version_send(version: str) -> None:
    for event in KEPT[version]["events"]:
        assert client_bytes.taken(event) == event["taken"]


@pytest.mark.parametrize("version", ALL)
def test_a_client_reads_what_workers_of_that_version_answer(version: str) -> None:
    for answer in KEPT[version]["answers"]:
        assert as_map(decode(answer.encode(), OwnerAnswer)).items() >= codec.decode(answer.encode()).items()


@pytest.mark.parametrize("version", ALL)
def test_what_programs_compare_is_still_there(version: str) -> None:
    before, today = KEPT[version], client_bytes.names()
    assert before["codes"].items() <= today["codes"].items()
    assert set(before["reasons"]) <= set(today["reasons"])
    for request, parameters in before["http"].items():
        assert set(parameters) <= set(today["http"][request]), request


def as_map(what: Question | OwnerAnswer) -> dict[str, Any]:
    return codec.decode(encode(what))


class Owner:
    """A partition without an entity."""

    number, worker, epoch = 0, "w", 3

    def __init__(self) -> None:
        self.tree = Tree(BUILT_IN_KINDS, NoScripts())

    async def look(self, ask: Any) -> tuple[Any, int]:
        return ask(self.tree), 7


async def answered(question: dict[str, Any]) -> OwnerAnswer:
    wire = SimpleNamespace(max_payload=1 << 20)
    installation = cast("Installation", SimpleNamespace(kinds=BUILT_IN_KINDS, wire=wire))
    asked = Questions(installation, Counter())
    return await asked.answer(IndexedPartition(Owner(), installation), codec.encode_json(question))


@pytest.mark.parametrize("version", ALL)
async def test_a_worker_refuses_questions_of_another_version(version: str) -> None:
    """Then the client reads STATE (`tests/nats/test_questions.py`): both need not mean the same by a state."""
    for text in KEPT[version]["questions"]:
        with pytest.raises(QuestionRefused, match="reads states by other tables") as refused:
            await answered({**codec.decode(text.encode()), "meaning": f"{version}.former 000000000000 00"})
        assert refused.value.code == 409


async def test_a_worker_answers_questions_of_its_own_version() -> None:
    for text in KEPT[__version__]["questions"]:
        kept = codec.decode(text.encode())
        about = None if kept.get("counts") else kept["wanted"].get("kind")
        question = {**kept, "meaning": meaning_of(BUILT_IN_KINDS, about), "after": None, "epoch": 0}
        assert (await answered(question)).position == 7


UNKNOWN = {
    "of a question": lambda one: {**one, "later": True},
    "of a selection": lambda one: {**one, "wanted": {**one["wanted"], "later": True}},
    "of a choice of states": lambda one: {**one, "wanted": {**one["wanted"], "choice": [None, [], False, [], True]}},
    "of a choice of classes": lambda one: {**one, "wanted": {**one["wanted"], "of_class": [[], 0, True]}},
}


@pytest.mark.parametrize("more", UNKNOWN.values(), ids=list(UNKNOWN))
async def test_a_worker_refuses_a_field_that_it_does_not_know(more: Any) -> None:
    """Skipped, it would make the answer one to another question."""
    kept = codec.decode(KEPT[__version__]["questions"][0].encode())
    about = None if kept.get("counts") else kept["wanted"].get("kind")
    question = {**kept, "meaning": meaning_of(BUILT_IN_KINDS, about)}
    await answered(question)
    with pytest.raises(QuestionRefused, match="this is no question") as refused:
        await answered(more(question))
    assert refused.value.code == 400


def test_a_client_skips_what_a_later_worker_adds_to_an_answer() -> None:
    answer = codec.decode(KEPT[__version__]["answers"][0].encode())
    assert decode(codec.encode_json({**answer, "later": 1}), OwnerAnswer) == client_bytes.ANSWERS[0]

"""Public reports of sources that count from the beginning again, as they were sent."""

import json

import pytest

from phaseline.engine.surfaces.testing.histories import History, event
from phaseline.schemas.records import Mark, Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.conformance import FOLDER

CASE = FOLDER / "public" / "events" / "t05-sequence-reset" / "events.jsonl"


@pytest.mark.skipif(not CASE.is_file(), reason="the cases are not at hand")
def test_an_agent_without_its_volume_is_refused_aloud() -> None:
    history = History(BUILT_IN_KINDS)
    for line in CASE.read_text(encoding="utf-8").splitlines():
        sent = json.loads(line)
        kind, _, trigger = sent["type"].partition(".")
        more = {name: sent[name] for name in ("id", "source", "sequence") if name in sent}
        history.take(event(kind, trigger, sent["subject"].partition("/")[2], sent.get("data"), **more))
    *_, first, later = history.steps
    noted, refused = first.records
    assert isinstance(noted, Mark)
    assert isinstance(refused, Rejection)
    assert "number 1 of /agent/seqr is older than number 102, heard at " in refused.message
    assert later.records == []
    told = {"kind": "node", "items": []}
    of_all = history.take(event("cluster", "snapshot", "seqr", told, source="/agent/seqr", sequence=4))
    assert of_all.is_repeat
    anew = event("node", "not_ready", "seqr/p/n1", {}, source="/agent/seqr", sequence=1, epoch=9)
    assert history.take(anew).accepted

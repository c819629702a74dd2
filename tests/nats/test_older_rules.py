"""An audit of a log that older rules made: it says so and of what, and real differences stay differences."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from phaseline.machines.compiler.kinds import Kinds
from phaseline.tables import ABSENT, DELETED, LIVE, SAME, Facet, Field, Label, Row, RuleEvent, Table, rule
from tests.support.command_line import Output, render_replay
from tests.support.installation import Settings, Wire
from tests.support.jobs_at_work import audit, audited, decide, replace_kinds
from tests.support.own_product import OWN
from tests.support.recorded_logs import AuditReport, ServerLog, Span

Computed = Mapping[str, Any]


def weighing(revision: int, each: int) -> Callable[[Computed, RuleEvent], Computed]:
    """The rule of a revision: it adds so much to the weight."""

    @rule("older.weigh", revision=revision)
    def weigh(attributes: Computed, _: RuleEvent) -> Computed:
        """Adds to the weight."""
        return {**attributes, "weight": attributes.get("weight", 0) + each}

    return weigh


def kinds(computes: Callable[[Computed, RuleEvent], Computed]) -> Kinds:
    ends = Row((LIVE,), "thrown", DELETED)
    rows = (Row((ABSENT,), "put", "There", computes=computes), Row((LIVE,), "weighed", SAME, computes=computes), ends)
    phase = Facet(name="phase", labels=(Label("There", None, "There"),), rows=rows, healthy="There")
    built = Facet(
        name="phase",
        labels=(Label("Built", None, "Built"),),
        rows=(Row((ABSENT,), "build", "Built"), ends),
        healthy="Built",
    )
    crate = Table(
        kind="crate", id=("crate",), facets=(phase,), intents=("put",), attributes=(Field("weight", int, "its weight"),)
    )
    return Kinds((crate, Table(kind="shelf", id=("shelf",), facets=(built,), intents=("build",))), products=OWN)


OLD, NEW, CARELESS = kinds(weighing(1, 1)), kinds(weighing(2, 2)), kinds(weighing(1, 3))
BEGIN = [("shelf", "build", "s"), ("crate", "put", "a"), ("crate", "weighed", "a")]
LATER = [("crate", "weighed", "a"), ("crate", "put", "b"), ("shelf", "build", "t")]


async def test_what_older_rules_decided_is_no_difference(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    await decide(wire, settings, OLD, BEGIN)
    installation = await decide(wire, settings, NEW, LATER, accept_tables=NEW.digest)
    for report in await audit(installation, tmp_path):
        assert (report.holds, report.divergences, report.by_others) == (True, {}, 2)
        assert report.older == {"crate": 2}
        assert report.records == 4  # the shelves of both times, and what the new rules decided


async def test_real_differences_stay_differences(wire: Wire, settings: Settings, tmp_path: Path) -> None:
    await decide(wire, settings, OLD, BEGIN)
    installation = await decide(wire, settings, NEW, LATER, accept_tables=NEW.digest)
    assert CARELESS.digest == OLD.digest
    for report in await audit(replace_kinds(installation, CARELESS), tmp_path):
        assert (report.holds, list(report.divergences), report.by_others) == (False, [("crate", "a")], 2)


async def test_records_say_it_where_the_log_has_no_note(wire: Wire, settings: Settings) -> None:
    await decide(wire, settings, OLD, BEGIN)
    installation = await decide(wire, settings, NEW, LATER, accept_tables=NEW.digest)
    async with ServerLog.open(installation, Span()) as log:
        log.eras = {partition: [] for partition in log.eras}
        report = await audited(installation, log)
    assert (report.holds, report.divergences, report.older) == (True, {}, {"crate": 2})


def test_the_command_says_which_rules_and_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    report = AuditReport(events=6, records=4, by_others=2, older=Counter({"crate": 2}))
    render_replay.show_audit(report, output=Output())
    assert capsys.readouterr().err == ("2 events decided by older rules (2 records of crate), not compared\n")

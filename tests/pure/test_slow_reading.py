"""A command that has to read much says how far it is."""

import pytest

from phaseline.engine.surfaces.cli import render_dry_run, terminal


def test_a_slow_reading_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    render_dry_run.progress_when_slow("c1/p")(5)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(terminal, "SLOW", -1)
    render_dry_run.progress_when_slow("c1/p")(5_000)
    assert capsys.readouterr() == ("", "reading the tree c1: 5,000 entities so far\n")

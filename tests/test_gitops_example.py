"""The page on GitOps shows what the command prints."""

from pathlib import Path

from click.testing import CliRunner

from phaseline.engine.cli import cli

ROOT = Path(__file__).parents[1]


def test_the_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "gitops.md").read_text()
    command, _, shown = page.partition("$ phaseline ")[2].partition("```")[0].partition("\n")
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in command.split()]
    result = CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert result.stdout == shown
    assert not result.stderr


def test_the_profiles_of_the_page_are_those_there_are() -> None:
    from phaseline.machines.profiles import PROFILES

    page = (ROOT / "docs" / "gitops.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| health, worst first"))
    cells = [cell.strip() for cell in row.split("|")[2:4]]
    for cell, profile in zip(cells, (PROFILES["alauda"], PROFILES["argocd"]), strict=True):
        assert cell == ", ".join(profile.called(health) for health in profile.order)

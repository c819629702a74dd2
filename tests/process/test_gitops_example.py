"""The page on GitOps shows what the command prints."""

from pathlib import Path

from click.testing import CliRunner

from phaseline.engine.cli import cli
from phaseline.engine.client.client import Client
from phaseline.engine.jetstream.streams import inspect
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import Settings
from tests.support.command import Shell
from tests.support.installation import until_decided

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "gitops.md").read_text()
    command, _, shown = page.partition("$ phaseline ")[2].partition("```")[0].partition("\n")
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in command.split()]
    result = CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert result.stdout == shown
    assert not result.stderr


def test_the_profiles_of_the_page_are_those_there_are() -> None:
    from phaseline.machines.kubernetes.profiles import PROFILES

    page = (ROOT / "docs" / "gitops.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| health, worst first"))
    cells = [cell.strip() for cell in row.split("|")[2:4]]
    for cell, profile in zip(cells, (PROFILES["alauda"], PROFILES["argocd"]), strict=True):
        assert cell == ", ".join(profile.called(health) for health in profile.order)


async def test_the_pages_show_what_a_system_prints(shell: Shell, client: Client, working: Settings, wire: Wire) -> None:
    for log in ("gitops/shop.jsonl", "fleet/infra.jsonl"):
        assert (await shell("publish", "--file", f"examples/{log}")).code == 0
    await until_decided(wire, await inspect(wire, working))
    for page, command in (
        ("gitops.md", "tree shop"),
        ("fleet.md", "counts infra"),
        ("README", "counts infra/web/east"),
    ):
        text = (ROOT / ("README.md" if page == "README" else f"docs/{page}")).read_text()
        shown = text.partition(f"phaseline {command}\n")[2].partition("```")[0].partition("$ ")[0]
        assert (await shell(*command.split())).out == shown

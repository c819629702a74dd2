"""README and the pages of docs are true: their commands and samples run, in order, and print what the pages show.

After an intended change, `PHASELINE_GOLDEN=write pytest tests/process/test_docs_run.py` writes what was printed into
the pages. Read the diff before you commit. `tests/support/pages` says how a page is read and run.
"""

import os
from pathlib import Path

import pytest

from tests.support.command import ROOT
from tests.support.pages.blocks import pages
from tests.support.pages.picture import PICTURE, picture, text_of
from tests.support.pages.runner import rewritten, run_page

GENERATED = {"cli.md", "machines.md"}
"""Pages without samples of their own: `test_cli_examples` runs the examples of commands."""
WITH_A_PACKAGE = {"own-kinds.md"}
"""Pages whose commands need a package that the page builds: `test_docs_own_kinds` does what they say."""
WITH_PORTS = {"edge.md", "second-site.md"}
"""Pages with servers on ports that they name: `test_docs_ports` runs them on others."""
PAGES = [page for page in pages(ROOT) if page.name not in GENERATED | WITH_A_PACKAGE | WITH_PORTS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
async def test_a_page_holds(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    folder = tmp_path / "reader"
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_kind"))
    run = await run_page(page.name, text, folder)
    if os.environ.get("PHASELINE_GOLDEN") == "write" and run.edits:
        page.write_text(rewritten(text, run), encoding="utf-8")
    if run.wrong:
        pytest.fail("\n\n".join(run.wrong), pytrace=False)


async def test_the_picture_shows_what_the_session_prints(tmp_path: Path) -> None:
    drawn = await picture(tmp_path / "reader")
    if os.environ.get("PHASELINE_GOLDEN") == "write" and text_of(PICTURE.read_text()) != text_of(drawn):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert text_of(drawn) == text_of(PICTURE.read_text(encoding="utf-8"))

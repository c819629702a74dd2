"""Pages with servers of their own are true: these start, the commands run and print what the pages show.

Belongs here: these pages, on ports that are free. Does not: what edges and second sites guarantee
(`tests/nats/test_edges.py`, `test_second_site.py`).
After an intended change, `PHASELINE_GOLDEN=write pytest tests/process/test_docs_ports.py` writes the outputs again.
"""

import os
from pathlib import Path

import pytest

from tests.support import free_ports
from tests.support.command import ROOT
from tests.support.pages.runner import rewritten, run_page

PAGES = {"edge.md": ("4222", "4223", "7422"), "second-site.md": ("4222", "4322", "7422")}


@pytest.mark.parametrize("name", PAGES)
async def test_the_steps_lead_to_what_the_page_says(name: str, tmp_path: Path) -> None:
    page, shown = ROOT / "docs" / name, PAGES[name]
    ports = dict(zip(shown, map(str, free_ports.some(len(shown))), strict=True))
    text = page.read_text(encoding="utf-8")
    for port, free in ports.items():
        text = text.replace(f":{port}", f":{free}")
    run = await run_page(name, text, tmp_path / "reader")
    if os.environ.get("PHASELINE_GOLDEN") == "write" and run.edits:
        new = rewritten(text, run)
        for port, free in ports.items():
            new = new.replace(f":{free}", f":{port}")
        page.write_text(new, encoding="utf-8")
    if run.wrong:
        pytest.fail("\n\n".join(run.wrong), pytrace=False)

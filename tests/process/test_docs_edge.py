"""docs/edge.md is true: its servers start, its commands run and print what the page shows.

Belongs here: the page, on ports that are free. Does not: what edges guarantee (`tests/nats/test_edges.py`).
After an intended change, `PHASELINE_GOLDEN=write pytest tests/process/test_docs_edge.py` writes the outputs again.
"""

import os
from pathlib import Path

import pytest

from tests.support import free_ports
from tests.support.command import ROOT
from tests.support.pages.runner import rewritten, run_page

PAGE = ROOT / "docs" / "edge.md"
PORTS = ("4222", "4223", "7422")


async def test_the_steps_lead_to_a_working_edge(tmp_path: Path) -> None:
    ports = dict(zip(PORTS, map(str, free_ports.some(len(PORTS))), strict=True))
    text = PAGE.read_text(encoding="utf-8")
    for shown, free in ports.items():
        text = text.replace(f":{shown}", f":{free}")
    run = await run_page(PAGE.name, text, tmp_path / "reader")
    if os.environ.get("PHASELINE_GOLDEN") == "write" and run.edits:
        new = rewritten(text, run)
        for shown, free in ports.items():
            new = new.replace(f":{free}", f":{shown}")
        PAGE.write_text(new, encoding="utf-8")
    if run.wrong:
        pytest.fail("\n\n".join(run.wrong), pytrace=False)

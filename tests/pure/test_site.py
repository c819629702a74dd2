"""The site of the pages, before it is built: every page has its place beside the others.

Belongs here: what `docs/site/navigation.py` makes of the README. Does not: the built pages (`test_docs_site`).
"""

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SITE: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "site" / "navigation.py"))


def test_every_page_has_one_place() -> None:
    """A page that the README does not name would be found by nobody."""
    found = Counter(SITE["pages"](ROOT))
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    assert sorted(found) == sorted(path.relative_to(ROOT).as_posix().removesuffix(".md") for path in written)
    assert [page for page, count in found.items() if count > 1] == []


def test_the_headings_are_the_roles_of_the_readme() -> None:
    found = SITE["headings"]((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [*found][:5] == ["Start", "Look", "Report", "Build on it", "Have EMCO"]
    assert len(found["Start"]) == 3
    assert all(found.values())


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("| look | [a](docs/a.md), [b](docs/b.md) | what? |\n| | [c](docs/c.md) | |", ["docs/a", "docs/b", "docs/c"]),
        ("| look | [a](docs/a.md) | as [a](docs/a.md#part) |", ["docs/a"]),
    ],
)
def test_a_row_without_a_role_is_of_the_role_above(rows: str, found: list[str]) -> None:
    text = f"## Where to go from here\n\n[x](x.md)\n\n| you | page | answers |\n|---|---|---|\n{rows}\n"
    text += "| run it | [r](r.md) | |\n\n| page | holds |\n|---|---|\n| [z](z.md) | all |\n"
    made = SITE["headings"](text)
    assert made["Look"] == found
    assert (made["Start"], made["Run it"], made["Understand and change it"][0]) == (["x"], ["r", "SECURITY"], "z")

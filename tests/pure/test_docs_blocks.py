"""How pages are read and compared: blocks, marks, commands and outputs; and which blocks cannot run.

Belongs here: `tests.support.pages` without running anything. Does not: the pages' commands
(`tests/process/test_docs_run.py`).
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.support.pages import outputs
from tests.support.pages.blocks import LANGUAGES, blocks, commands, not_run, pages

ROOT = Path(__file__).parents[2]
NOT_RUN = {
    "needs a Kubernetes cluster": 3,
    "needs a client and a list of your nodes": 1,
    "needs a log that is wrong": 1,
    "needs a server of its own": 2,
    "needs a worker with a bug": 1,
    "`tests/process/test_foreign_clients.py` runs such a program": 1,
}
"""The only reasons for which a block is not run, and how many such blocks all pages have together."""

PAGE = """# Page

<!-- run
$ mkdir here
-->
<!-- now: 03:12 -->

```console
$ one
a
$ two \\
  further
$ three  # why
```

- In a list:

  ```toml my.toml
  a = 1
  ```

<!-- not run: needs a whale -->

```console
$ four
```
"""


def test_a_page_has_blocks_with_marks() -> None:
    found = list(blocks(PAGE))
    assert [(b.language, b.name, b.line) for b in found] == [
        ("", "run", 2), ("", "now", 5), ("console", "", 8), ("toml", "my.toml", 18), ("console", "", 24),
    ]  # fmt: skip
    assert [b.text for b in found[:2]] == ["$ mkdir here", "03:12"]
    assert found[3].indent == "  "
    assert found[3].text == "a = 1\n"
    assert list(not_run(PAGE)) == [("needs a whale", "$ four")]


def test_commands_have_outputs() -> None:
    found = commands(list(blocks(PAGE))[2])
    assert [(c.text, c.shown, c.line) for c in found] == [
        ("one", ["a"], 8), ("two \\\n  further", [], 11), ("three  # why", [], 12),
    ]  # fmt: skip


def test_a_mark_without_a_block_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no block follows the mark"):
        list(blocks("<!-- not run: x -->\n\n# Next\n"))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["since 08:12:34, 4 m 8 s"], ["since 09:01:02.123, 20 ms"], True),
        (["at nats://127.0.0.1:4222"], ["at nats://127.0.0.1:40404"], True),
        (["A    B"], ["A  B   "], True),
        (["     56  2026-11-22 07:36:56.655  cluster"], ["  7  2026-11-22 07:36:56.655  cluster"], True),
        (["by /phaseline/cli/ada"], ["by /phaseline/cli/root"], True),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "..."], ["a"], True),
        (["a"], ["a", "b"], False),
        (["  a"], ["a"], False),
        (["3 nodes"], ["4 nodes"], False),
        ([], ["a"], False),
    ],
)
def test_what_is_shown_fits_what_is_printed(shown: list[str], printed: list[str], same: bool) -> None:
    assert outputs.fits(shown, printed) is same


def test_a_page_keeps_its_times() -> None:
    shown = ["a  since 08:12:34, 4 m 8 s", "b  since 08:12:35"]
    printed = ["a  since 09:01:02, 20 ms", "B  since 09:01:03", "c"]
    assert outputs.renewed(shown, printed[:2]) == ["a  since 08:12:34, 4 m 8 s", "B  since 08:12:35"]
    assert outputs.renewed(shown, printed) == ["a  since 08:12:34, 4 m 8 s", "B  since 09:01:03", "c"]


def test_few_blocks_are_not_run_and_the_reasons_are_known() -> None:
    found = Counter(reason for page in pages(ROOT) for reason, _ in not_run(page.read_text(encoding="utf-8")))
    assert found == NOT_RUN


@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.name)
def test_every_block_has_a_language_that_is_run_or_is_no_code(page: Path) -> None:
    found = {block.language for block in blocks(page.read_text(encoding="utf-8"))}
    assert found - LANGUAGES <= {""}
    assert all("not run" in b.marks for b in blocks(page.read_text(encoding="utf-8")) if b.language == "js")
    unnamed = [b.line for b in blocks(page.read_text(encoding="utf-8")) if not b.language and not b.name]
    assert unnamed == []

"""The specification pages name every label, trigger, attribute and field of the built-in tables.

Belongs here: that nothing of a table is missing on its page. Does not: comparing the rows (`test_tables_exhaustive`).
"""

import re
from pathlib import Path

import pytest

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import table_of
from phaseline.machines.language.table import Table
from tests.support.built_in_kinds import KINDS_OF_PRODUCT

SPEC = Path(__file__).parents[2] / "docs" / "spec"
PAGE_OF = {kind: page for page, kinds in KINDS_OF_PRODUCT.items() for kind in kinds}


def words_of(table: Table) -> set[str]:
    fields = [field for found in table.fields.values() for field in found]
    names = {field.name for field in (*table.attributes, *fields)}
    conditions = {label.condition for facet in table.facets for label in facet.labels if label.condition is not None}
    return {table.kind, *table.triggers, *names, *conditions}


def page_of(table: Table) -> str:
    return (SPEC / f"{PAGE_OF[table.kind]}.md").read_text()


@pytest.mark.parametrize("table", [*map(table_of, BUILT_IN)], ids=lambda table: table.kind)
def test_the_page_has_a_row_for_each_label(table: Table) -> None:
    rows = [row for row in page_of(table).splitlines() if row.startswith("| ")]
    for label in (label for facet in table.facets for label in facet.labels):
        start, texts = f"| {label.phase} ", f"| {label.others['zh']} | {label.en} |"
        fitting = [row for row in rows if row.startswith(start) and texts in row and (label.condition or "") in row]
        assert fitting, label


@pytest.mark.parametrize("table", [*map(table_of, BUILT_IN)], ids=lambda table: table.kind)
def test_the_page_names_all_that_the_table_has(table: Table) -> None:
    page = page_of(table)
    assert sorted(word for word in words_of(table) if not re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", page)) == []


def test_every_kind_has_a_page() -> None:
    assert {table.kind for table in BUILT_IN} == PAGE_OF.keys()

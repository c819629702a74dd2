"""The numbers of limits on the pages are those of the code.

Belongs here: docs/limits.md and the bounds on docs/bad-input.md. Does not: that the limits hold (`test_bounds` and
others).
"""

import re
from pathlib import Path

import pytest

from phaseline.engine import settings
from phaseline.engine.core import message, rejections, timers
from phaseline.engine.core.lives import memory
from phaseline.engine.core.sources import numbers
from phaseline.engine.nats import streams
from phaseline.engine.publish import snapshots
from phaseline.engine.replay import log_bytes
from phaseline.engine.scripts import jq_paths, lua, sandbox
from phaseline.machines.compiler import reachability
from phaseline.machines.kinds.emco import emco_resource
from phaseline.machines.kinds.gitops import sync_windows
from phaseline.machines.kinds.kubernetes import durations, globs
from phaseline.machines.kinds.kubernetes.diff import canonical, managed_fields
from phaseline.machines.language import fields
from phaseline.schemas import bounds, records, subjects, yaml_text
from phaseline.schemas.cloudevents import extensions

DOCS = Path(__file__).parents[2] / "docs"
YEAR, MEGA = 365 * 86_400, 1 << 20
LIMITS: dict[str, float | str] = {
    "partitions of an installation": settings.MAX_PARTITIONS,
    "messages that one commit stores at once": message.BATCH_LIMIT,
    "bytes of an id": subjects.MAX_ID,
    "bytes of one part of an id": subjects.MAX_TOKEN,
    "characters of a text in an event's data": fields.MAX_TEXT,
    "levels of maps and lists in an event": bounds.LEVELS,
    "bytes of an entity's attributes": rejections.MOST_ATTRIBUTES,
    "bytes of one event of a snapshot": snapshots.PART,
    "bytes of one event or record in a file": bounds.LARGEST,
    "sources whose last `sequence` an entity remembers": numbers.MAX_SOURCES,
    "identities of the present life that an entity keeps": memory.MOST_SCHEMES,
    "identities of earlier lives that an entity keeps": memory.MOST_FORMER,
    "revisions that an EMCO resource remembers": emco_resource.KEPT,
    "bases that may arise in one facet": reachability.MAX_BASES,
    "sync windows of an application": sync_windows.MOST,
    "characters of a glob": globs.LONGEST,
    "years of a timer": timers.LONGEST // YEAR,
    "worker processes of `phaseline up`": 64,
    "oldest NATS server": ".".join(map(str, streams.MINIMUM_SERVER)),
}
BAD_INPUT = {
    "levels of maps and lists in an event": f"{bounds.LEVELS}",
    "extension attributes": f"{extensions.MOST}; {extensions.MOST_BYTES:,} bytes of names and texts",
    "a text in a field of `data`": f"{fields.MAX_TEXT:,} characters",
    "the attributes of an entity after the event": f"{rejections.MOST_ATTRIBUTES:,} bytes",
    "a message of a rejection": f"{records.MAX_PAYLOAD:,} characters",
    "a timer": f"{timers.LONGEST // YEAR} years",
    "a glob in settings": f"{globs.LONGEST:,} characters, braces {globs.BRACES} levels deep",
    "a duration in settings": f"{durations.LONGEST} characters, {int(durations.MOST / 31_556_952)} years",
    "YAML in settings or files": f"{bounds.LEVELS} levels; {yaml_text.MAX_VALUES:,} values and "
    f"{yaml_text.MAX_CHARACTERS // MEGA} MB of text after aliases and `<<`",
    "field managers: members of lists that are looked at": f"{managed_fields.MOST:,}",
    "a quantity in a manifest": f"{canonical.LONGEST} characters, exponents to {canonical.EXPONENT}",
    "a compressed log file": f"{log_bytes.RATIO} times its size, at least {log_bytes.FREE >> 30} GB",
    "one event or record in a file": f"{bounds.LARGEST // MEGA} MB",
}
TROUBLE = {
    "sync windows of a set or an application, and together": f"{sync_windows.MOST}",
    "search for the next opening": f"{sync_windows.SEARCHES} looks at a schedule, "
    f"{sync_windows.HORIZON // (366 * 24 * 60 * sync_windows.MINUTE)} years",
    "a health script": f"{lua.INSTRUCTIONS:,} steps, {lua.MEMORY // MEGA} MB in all",
    "all ignore rules in jq of one event": f"{jq_paths.READS // MEGA} MB to read",
}


def rows(page: str) -> dict[str, str]:
    """The first two cells of every row of the page's tables."""
    return dict(re.findall(r"^\| (.+?) \| (.*?) \|", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE))


def shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}"


def test_the_table_of_numbers_is_that_of_the_code() -> None:
    text = (DOCS / "limits.md").read_text(encoding="utf-8")
    table = text.partition("## Numbers")[2].partition("\n## ")[0]
    found = dict(re.findall(r"^\| (.+?) \| (.*?) \|", table, re.MULTILINE))
    assert {name: value for name, value in found.items() if name != "what"} == {
        name: shown(value) for name, value in LIMITS.items()
    }


@pytest.mark.parametrize(("page", "expected"), [("bad-input.md", BAD_INPUT), ("trouble.md", TROUBLE)])
def test_bounds_on_other_pages_are_those_of_the_code(page: str, expected: dict[str, str]) -> None:
    found = rows(page)
    assert {name: found.get(name) for name in expected} == expected


def test_seconds_of_a_script_are_those_of_the_code() -> None:
    for page in ("limits.md", "gitops.md", "trouble.md"):
        assert f"{sandbox.SECONDS} s" in (DOCS / page).read_text(encoding="utf-8"), page

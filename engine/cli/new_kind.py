"""The files of a new package with a kind: what `phaseline new kind` writes.

Belongs here: the texts of these files, from the name of the kind. Does not: writing them (`cli.new`).
"""

from string import Template

from phaseline.schemas.version import __version__

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "0.1.0"
description = "The kind $kind, for Phaseline"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["phaseline"]

[project.optional-dependencies]
test = ["hypothesis", "mypy", "pytest", "ruff"]

# By this line Phaseline finds the table. The object may be one Table, or a tuple of several.
[project.entry-points."phaseline.kinds"]
$kind = "$package.table:$constant"

[tool.hatch.build.targets.wheel]
packages = ["$package"]

[tool.mypy]
strict = true

[tool.ruff]
line-length = 120
"""

INIT = '''"""The kind `$kind`, for Phaseline."""
'''

TABLE = '''"""The kind `$kind`: its states, and which trigger leads from where to where.

`help(phaseline.tables.Row)` explains each column. `phaseline machines $kind` prints this table.
"""

from phaseline.tables import ABSENT, DELETED, OK, PROGRESSING, Facet, Field, Label, Row, Table, Timeout

CREATING, RUNNING, FAILED, DELETING = "Creating", "Running", "Failed", "Deleting"
PATIENCE = 600
"""The seconds after which creating counts as failed."""

# fmt: off
PHASE = Facet(
    name="phase",
    labels=(
        #     phase     condition    in English
        Label(CREATING, PROGRESSING, "Creating"),
        Label(RUNNING,  OK,          "Running"),
        Label(FAILED,   "Error",     "Failed"),
        Label(FAILED,   "TimedOut",  "Timed out"),
        Label(DELETING, PROGRESSING, "Deleting"),
    ),
    rows=(
        #   from                         trigger      to
        Row((ABSENT, DELETED),           "create",    CREATING, assigns=True),
        Row((CREATING, FAILED),          "created",   RUNNING),
        Row((CREATING, RUNNING),         "failed",    FAILED, condition="Error"),
        Row((CREATING,),                 "timed_out", FAILED, condition="TimedOut"),
        Row((FAILED,),                   "retry",     CREATING),
        Row((CREATING, RUNNING, FAILED), "delete",    DELETING),
        Row((DELETING,),                 "deleted",   DELETED),
    ),
    timeouts=(Timeout(CREATING, "timed_out", seconds=PATIENCE),),
    pending=(CREATING, DELETING),
)
# fmt: on

$constant = Table(
    kind="$kind",
    id=("$kind",),
    doc="What a $words is, in a sentence.",
    intents=("create", "retry", "delete"),
    derived=("timed_out",),
    attributes=(Field("owner", str, "who answers for it"),),
    facets=(PHASE,),
)
'''

TESTS = '''"""The kind `$kind`, tested without a server."""

from phaseline.testing import check_laws, given

from $package.table import $constant

CREATING = given($constant).event("$kind", "create", "a", {"owner": "me"})
RUNNING = CREATING.event("$kind", "created", "a")


def test_it_runs_once_it_is_created() -> None:
    CREATING.when("$kind", "created", "a").then("$kind", "a", "Running", attributes={"owner": "me"})


def test_creating_times_out_after_ten_minutes() -> None:
    CREATING.later(minutes=9).then("$kind", "a", "Creating")
    late = CREATING.later(minutes=10).then("$kind", "a", "Failed [TimedOut]")
    late.when("$kind", "created", "a").then("$kind", "a", "Running")


def test_a_failed_one_can_be_tried_again() -> None:
    failed = RUNNING.event("$kind", "failed", "a", {"reason": "Broken"})
    failed.when("$kind", "retry", "a").then("$kind", "a", "Creating")


def test_only_a_failed_one_can_be_tried_again() -> None:
    RUNNING.when("$kind", "retry", "a").then_rejected("illegal", "it needs Failed")


def test_it_is_deleted() -> None:
    RUNNING.event("$kind", "delete", "a").when("$kind", "deleted", "a").then("$kind", "a", "Deleted")


def test_the_laws_hold() -> None:
    check_laws($constant, examples=20)
'''

README = """\
# $distribution

The kind `$kind`, for Phaseline $version.

```console
$$ python3 -m venv .venv
$$ .venv/bin/pip install -e '.[test]'
$$ .venv/bin/pytest
$$ .venv/bin/mypy $package tests
$$ .venv/bin/ruff check
```

| file | holds |
|---|---|
| `$package/table.py` | the table: states, rows, the timer |
| `tests/test_$kind.py` | its tests, without a server |
| `pyproject.toml` | the entry point by which Phaseline finds the table |

Install the package where workers run, and where you use the command `phaseline`:

```console
$$ .venv/bin/phaseline machines $kind
$$ .venv/bin/phaseline publish $kind create a --wait
```

A worker of an installation that ran before needs `--accept-tables DIGEST` once, with the digest that
`phaseline machines` prints: a new kind is a change of the tables.
"""


def files(kind: str) -> dict[str, str]:
    """The text of each file of the package, by its path in it."""
    package = f"{kind}_kind"
    words = {
        "kind": kind,
        "package": package,
        "constant": kind.upper(),
        "distribution": package.replace("_", "-"),
        "words": kind.replace("_", " "),
        "version": __version__,
    }
    written = {
        "pyproject.toml": PYPROJECT,
        "README.md": README,
        f"{package}/__init__.py": INIT,
        f"{package}/py.typed": "",
        f"{package}/table.py": TABLE,
        f"tests/test_{kind}.py": TESTS,
    }
    return {path: Template(text).substitute(words) for path, text in written.items()}

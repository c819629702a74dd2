"""The command `new`: writes the files of a package with a kind.

Belongs here: the options, what a name may be, writing the files. Does not: the texts of the files, which are those of
the example `examples/new_kind`; packages hold it as `phaseline/scaffold`.
"""

import keyword
import re
from pathlib import Path

import click

import phaseline
from phaseline.engine.surfaces.cli import options, render
from phaseline.engine.surfaces.cli.help import Page
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.checks import LOG_WORDS
from phaseline.schemas import subjects


@click.command(
    cls=Page,
    examples=[
        ("phaseline kinds new backup_job", "write the package into ./backup_job"),
        ("phaseline kinds new backup_job --path ~/src/backups", "write it into another folder"),
    ],
)
@click.argument("name")
@click.option("--path", type=click.Path(path_type=Path), metavar="DIR", help="The folder; ./NAME if left out.")
@options.verbose
def new(name: str, *, path: Path | None) -> int | None:
    """Write a package with a kind: its table, tests with the test kit, a README and an entry point. Needs no server.

    NAME is the name of the kind: lower-case letters, digits and _. The tests of the package pass as they are written,
    and so do mypy --strict and ruff. Then change the table to what you need; docs/own-kinds.md builds a real one step
    by step.
    """
    check_name(name)
    folder = Path(name) if path is None else path.expanduser()
    check_folder(folder)
    written = package(name)
    try:
        for inside, text in written.items():
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            (folder / inside).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"cannot write into {folder}: {error.strerror}", param_hint="--path") from error
    for inside in written:
        render.show_line(render.text_of(f"written: {folder / inside}"))
    render.show_line(render.text_of(f"next: install it, with pip install -e '{folder}[test]', and run pytest {folder}"))
    return 0


def package(name: str) -> dict[str, str]:
    """The text of each file of the example, by its path, with this kind in place of its `rack`."""
    words = {"rack-kind": f"{name}-kind".replace("_", "-"), "rack": name, "RACK": name.upper()}

    def renamed(text: str) -> str:
        return re.sub("|".join(words), lambda word: words[word[0]], text)

    example = Path(phaseline.__file__).parent / "scaffold"
    paths = (path.relative_to(example) for path in sorted(example.rglob("*")) if path.is_file())
    return {
        renamed(path.as_posix()): renamed((example / path).read_text(encoding="utf-8"))
        for path in paths
        if not path.parts[0].startswith(".") and path.parent.name != "__pycache__"
    }


def check_name(name: str) -> None:
    """Raise `InvalidInput.bad_parameter` unless a new kind can have this name."""
    if not subjects.check_word(name) or not name.isidentifier():
        better = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip()).strip("_").lower()
        is_better = better.isidentifier() and subjects.check_word(better)
        hint = f" (did you mean {better}?)" if is_better else ""
        raise _bad_name(f"{name!r} cannot be a kind{hint}: write lower-case letters, digits and _, a letter first")
    if keyword.iskeyword(name) or name in LOG_WORDS:
        raise _bad_name(f"{name!r} has a meaning already: choose another name, such as my_{name}")
    if name in (table.kind for table in BUILT_IN):
        raise _bad_name(f"there is a built-in kind {name!r}: choose another name, such as my_{name}")


def _bad_name(problem: str) -> click.BadParameter:
    return click.BadParameter(problem, param_hint="NAME")


def check_folder(folder: Path) -> None:
    """Raise `InvalidInput.bad_parameter` unless the folder is new or empty."""
    if folder.is_dir() and any(folder.iterdir()):
        problem = f"the folder {folder} exists and is not empty: remove it, or name another one with --path"
        raise click.BadParameter(problem, param_hint="--path")
    if folder.exists() and not folder.is_dir():
        raise click.BadParameter(f"{folder} is a file: name a folder with --path", param_hint="--path")

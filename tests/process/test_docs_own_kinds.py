"""docs/own-kinds.md is true: its files are written, its commands run, one after another, in a fresh folder.

Belongs here: the page from top to bottom. What stands in for what: `pip install -e` is an entry point on the path,
`pytest` calls the tests in this process, `phaseline up` and `phaseline worker` are a worker in this process on the
server of the tests. Does not: the reference below the steps.
After an intended change, `PHASELINE_GOLDEN=write pytest tests/process/test_docs_own_kinds.py` writes the outputs again.
Read the page before you commit.
"""

import asyncio
import importlib
import os
import re
import runpy
import shlex
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from phaseline.machines import built_in
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import SetupError
from tests.support.command_line import cli, package, say_error
from tests.support.installation import Settings, Wire, Worker
from tests.support.pages import outputs
from tests.support.pages.blocks import blocks, commands
from tests.support.pages.runner import run_page
from tests.support.patience import LIMIT

PAGE = Path(__file__).parents[2] / "docs" / "own-kinds.md"
URL = '"nats://127.0.0.1:4222"'
EXAMPLE = PAGE.parents[1] / "examples" / "own_kind"
WIDEST = 118
"""The most columns of an output on the page; the rest of a line is left out there."""
STEPS, TITLE, REFERENCE = PAGE.read_text(encoding="utf-8").partition("## What a table can say")


def fitting(output: str) -> list[str]:
    """An output as the page shows it: of a line that is too wide the end is left out.

    Errors and rejections are folded, because what to do stands at their end.
    """
    lines: list[str] = []
    for line in output.rstrip().splitlines():
        if "rejected" in line or re.match(r"error|  \S", line):
            lines += textwrap.wrap(line, WIDEST, subsequent_indent=" " * 8)
        else:
            lines.append(line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…")
    return lines


def write(folder: Path, block: str) -> None:
    """Write or change the file that the first line of a block names."""
    first, _, text = block.partition("\n")
    path, _, how = first.removeprefix("# ").partition(", ")
    file = folder / path
    if how == "continued":
        file.write_text(f"{file.read_text()}\n\n{text}")
    elif how.startswith("replaces the line with "):
        line = next(one for one in file.read_text().splitlines() if how.removeprefix("replaces the line with ") in one)
        file.write_text(file.read_text().replace(f"{line}\n", text))
    elif path.endswith(".toml"):
        header = text.splitlines()[0]
        file.write_text(re.sub(rf"{re.escape(header)}\n.*?\n\n", f"{text}\n", file.read_text(), flags=re.DOTALL))
    else:
        file.write_text(text)


class Reader:
    """Somebody who does what the page says, in a folder."""

    def __init__(self, folder: Path, settings: Settings, wire: Wire) -> None:
        self.folder, self.settings, self.wire = folder, settings, wire
        self.working: asyncio.Task[None] | None = None
        self.stop = asyncio.Event()

    async def do(self, command: str, shown: str) -> str:
        """The output of a command."""
        words = shlex.split(command)
        if words[0] == "phaseline" and words[1] in ("up", "worker"):
            return await self.work(words[-1] == "DIGEST")
        if words[0] == "phaseline":
            return await asyncio.to_thread(self.phaseline, words[1:])
        if command == "python reporter.py < seen.json":
            return await asyncio.to_thread(self.report)
        if words[0] == "cat":
            (self.folder / words[1]).write_text(shown)
            return shown
        return {"pip": self.install, "cd": lambda: "", "pytest": self.test}[words[0]]()

    def phaseline(self, words: list[str]) -> str:
        there = {
            "PHASELINE_NATS": self.settings.nats[0],
            "PHASELINE_PREFIX": self.settings.prefix,
            "COLUMNS": "240",
            "LOGNAME": "me",
        }
        done = CliRunner().invoke(cli, words, env={**there, "TZ": "UTC", "LC_ALL": "C.UTF-8"})
        assert done.exit_code < 2, done.output
        return "" if words[:2] == ["kinds", "new"] else done.output

    def install(self) -> str:
        """Make the package importable, with its entry points, as they are now."""
        if not (self.folder / "pyproject.toml").is_file():
            return ""
        groups = tomllib.loads((self.folder / "pyproject.toml").read_text())["project"]["entry-points"]
        listed = [f"{name} = {value}" for name, value in groups["phaseline.kinds"].items()]
        known = self.folder / "backup_job_kind-0.1.0.dist-info"
        known.mkdir(exist_ok=True)
        (known / "METADATA").write_text("Metadata-Version: 2.1\nName: backup-job-kind\nVersion: 0.1.0\n")
        (known / "entry_points.txt").write_text("\n".join(["[phaseline.kinds]", *listed, ""]))
        self.forget()
        return ""

    def test(self) -> str:
        self.forget()
        tests = vars(importlib.import_module("test_backup_job"))
        found = [test for name, test in tests.items() if name.startswith("test_")]
        for test in found:
            test()
        return f"{len(found)} passed"

    def report(self) -> str:
        program = (self.folder / "reporter.py").read_text()
        there = f'"{self.settings.nats[0]}", prefix="{self.settings.prefix}"'
        (self.folder / "told.py").write_text(program.replace(URL, there))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", StringIO((self.folder / "seen.json").read_text()))
            runpy.run_path(str(self.folder / "told.py"))
        return ""

    def forget(self) -> None:
        """Let the package be imported anew."""
        for name in [one for one in sys.modules if one.startswith(("backup_job_kind", "test_backup_job"))]:
            del sys.modules[name]
        importlib.invalidate_caches()
        built_in._ordinary.cache_clear()

    async def work(self, accepts: bool) -> str:
        """Start a worker with the tables that are installed now; its refusal, if it does not go on."""
        await self.end()
        kinds = installed()
        settings = replace(self.settings, accept_tables=kinds.digest if accepts else "")
        self.stop = asyncio.Event()
        worker = Worker(self.wire, settings, kinds)
        self.working = asyncio.create_task(worker.run(self.stop))
        ready = asyncio.create_task(worker.ready.wait())
        await asyncio.wait((self.working, ready), return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            # A person does not type the next command before the worker has taken the partition over.
            async with asyncio.timeout(LIMIT):
                while not worker.loaded or any(partition.tree is None for partition in worker.loaded.values()):
                    await asyncio.sleep(0.01)
            return ""
        ready.cancel()
        refusal, self.working = self.working.exception(), None
        assert isinstance(refusal, SetupError)
        assert SetupError.tables_differ.made(refusal)
        with redirect_stderr(StringIO()) as said:
            say_error(refusal, verbose=False)
        return said.getvalue()

    async def end(self) -> None:
        if self.working is not None:
            self.stop.set()
            await self.working
            self.working = None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the package; what it brings is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "backups"
    for path in (made / "tests", made):
        monkeypatch.syspath_prepend(str(path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield made
    monkeypatch.undo()
    Reader.forget(Reader.__new__(Reader))


@asynccontextmanager
async def reader(folder: Path, settings: Settings) -> AsyncIterator[Reader]:
    settings = replace(settings, partitions=1)
    async with Wire.open(settings, name="test", patient=True) as wire:
        someone = Reader(folder, settings, wire)
        try:
            yield someone
        finally:
            await someone.end()


async def test_each_step_does_what_the_page_shows(folder: Path, settings: Settings) -> None:
    page, wrong = PAGE.read_text(encoding="utf-8").splitlines(), []
    edits: list[tuple[int, list[str], list[str]]] = []
    async with reader(folder, settings) as someone:
        for block in blocks(STEPS):
            if block.language in ("python", "toml"):
                write(folder, block.text)
                someone.forget()
            for command in commands(block) if block.language == "console" else ():
                printed = fitting(await someone.do(command.text, "\n".join(command.shown)))
                if not outputs.fits(command.shown, printed):
                    wrong.append(f"$ {command.text}\n{outputs.difference(command.shown, printed)}")
                    edits.append((command.line + 1, command.shown, outputs.renewed(command.shown, printed)))
    if os.environ.get("PHASELINE_GOLDEN") == "write":
        for line, old, new in reversed(edits):
            page[line : line + len(old)] = new
        PAGE.write_text("\n".join([*page, ""]), encoding="utf-8")
    assert not wrong, "\n\n".join(wrong)


async def test_the_samples_of_the_reference_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    run = await run_page(PAGE.name, REFERENCE, tmp_path / "reader")
    assert run.wrong == []


@pytest.mark.slow
def test_its_code_is_right_for_ruff_and_mypy(tmp_path: Path) -> None:
    for path, text in package("backup_job").items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    for block in blocks(STEPS):
        if block.language in ("python", "toml"):
            write(tmp_path, block.text)
    strict = ["mypy", "--strict", "backup_job_kind", "tests", "reporter.py"]
    for words in (["ruff", "check"], ["ruff", "format", "--check"], strict):
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout

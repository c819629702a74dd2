"""Runs a page: its commands, samples and files, in order, from a fresh folder.

Belongs here: running a block, and what became of it. Does not: reading pages (`blocks`), the shell (`page_shell`).
"""

import ast
import asyncio
import io
import json
import re
import tomllib
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, chdir, redirect_stdout
from datetime import UTC, datetime
from inspect import CO_COROUTINE
from pathlib import Path
from typing import Any

import yaml

import phaseline
from phaseline.engine.nats.embedded.server_key import with_key
from phaseline.engine.nats.streams import inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from tests.support import closed_port
from tests.support.installation import until_decided
from tests.support.pages import outputs
from tests.support.pages.blocks import Block, Command, blocks, commands
from tests.support.pages.page_shell import PageShell, page_shell
from tests.support.why_output import known

PUBLISHES = re.compile(r"publish|snapshot|observe|import|resend|heartbeat|nats pub|\.py\b")
URL = "nats://127.0.0.1:4222"
"""The URL that the pages write for the system that `phaseline up` runs."""
NOBODY = "nats://127.0.0.1:1"
"""The URL that the pages write for a server that is not there."""


class PageRun:
    """One run of a page. `edits` are the outputs that the page should show instead: by line, the old and the new."""

    def __init__(self, shell: PageShell, name: str, stack: AsyncExitStack) -> None:
        self.shell, self.name, self._stack = shell, name, stack
        self.wrong: list[str] = []
        self.edits: list[tuple[int, list[str], list[str]]] = []
        self._names: dict[str, Any] = {"asyncio": asyncio, "phaseline": phaseline}
        self._moments: dict[str, str] = {}
        self._shown: dict[int, tuple[Command, str]] = {}
        self._unsettled = False
        self._raised = ""
        self._client: Any = None

    @classmethod
    @asynccontextmanager
    async def opened(cls, name: str, folder: Path, **environment: str) -> AsyncIterator["PageRun"]:
        """A run in a fresh folder. environment: further variables of the shell."""
        async with page_shell(folder, **environment) as shell, AsyncExitStack() as stack:
            yield cls(shell, name, stack)

    async def do(self, command: str) -> tuple[int, list[str]]:
        """Exit code and output of a command, which sees all that was published before."""
        await self._settle()
        self._unsettled = PUBLISHES.search(command) is not None
        code, printed = await self.shell.run(self._meant(command).replace(NOBODY, closed_port.NATS))
        return code, [line.replace(closed_port.NATS, NOBODY) for line in printed]

    async def remember(self, word: str) -> None:
        """From here on, this word of the page means the present moment."""
        await self._settle()
        self._moments[word] = datetime.now(UTC).isoformat().replace("+00:00", "Z")

    async def block(self, block: Block) -> None:
        """Run one block, unless a mark says that it cannot run."""
        raised, self._raised = self._raised, ""
        if "not run" in block.marks:
            return
        if block.name == "now":
            await self.remember(block.text)
        elif block.name == "run":
            for command in commands(block):
                await self._command(command, block, compared=False, last=False)
        elif block.name == "python":
            await self._sample(block._replace(language="python", name=""))
        elif block.language == "console":
            await self._console(block)
        elif block.language == "text" and raised:
            self._compare(raised.splitlines(), block.text.splitlines(), block.line, block)
        else:
            await self._sample(block)

    async def _console(self, block: Block) -> None:
        asked = commands(block)
        compared = any(command.shown for command in asked)
        for command in asked:
            await self._command(command, block, compared=compared, last=command is asked[-1])

    async def _command(self, command: Command, block: Block, *, compared: bool, last: bool) -> None:
        before = len(self.shell.lasting)
        code, printed = await self.do(command.text)
        if len(self.shell.lasting) > before:
            self._shown[self.shell.lasting[-1].pid] = (command, block.indent)
            return
        wanted = int(block.marks.get("ends with", "0")) if last else 0
        if code != wanted:
            self._say(command.line, f"$ {command.text}\nended with {code}, not {wanted}:\n" + "\n".join(printed))
        if compared:
            self._compare(printed, command.shown, command.line + 1, block)

    def _meant(self, text: str) -> str:
        """The command with the moments that the page's words stand for."""
        for word, moment in self._moments.items():
            text = re.sub(rf"(?<=[\s=\"']){re.escape(word)}(?=[\s\"']|$)", moment, text)
        return text

    def _compare(self, printed: list[str], shown: list[str], line: int, block: Block) -> None:
        while shown and not shown[-1].strip():
            shown = shown[:-1]
        while printed and not printed[-1].strip():
            printed = printed[:-1]
        if not outputs.fits(shown, printed):
            self._say(line, outputs.difference(shown, printed))
            new = [f"{block.indent}{one}".rstrip() for one in outputs.renewed(shown, printed)]
            self.edits.append((line, [f"{block.indent}{one}".rstrip() for one in shown], new))

    def _say(self, line: int, what: str) -> None:
        self.wrong.append(f"{self.name}, line {line + 1}: {what}")

    async def _sample(self, block: Block) -> None:
        text = self._meant(block.text.replace(URL, self.shell.url or URL))
        if block.name:
            file = self.shell.folder / block.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if block.language == "python" and not block.name:
            await self._python(text, block)
        elif block.language == "json":
            json.loads(text)
        elif block.language == "yaml":
            list(yaml.safe_load_all(text))
        elif block.language == "toml":
            tomllib.loads(text)

    async def _python(self, text: str, block: Block) -> None:
        """Run a sample where the samples before it ran. Tests that it defines are run too."""
        await self._settle()
        self._unsettled = "client" in text
        if self._unsettled and self._client is not None:
            self._names.setdefault("client", self._client)
        before, said = set(self._names), io.StringIO()
        try:
            with redirect_stdout(said), chdir(self.shell.folder):
                async with asyncio.timeout(120):
                    await self._execute(text, block)
                    for name in [one for one in self._names if one.startswith("test_") and one not in before]:
                        self._names[name]()
        except Exception as error:  # noqa: BLE001  # whatever the sample raises
            self._raised = str(error)
            if type(error).__name__ != block.marks.get("raises"):
                at = [f.lineno or 0 for f in traceback.extract_tb(error.__traceback__) if f.filename == self.name]
                self._say(at[-1] - 1 if at else block.line, f"{type(error).__name__}: {error}")
        else:
            if "raises" in block.marks:
                self._say(block.line, "nothing was raised")
        self._said(block, said.getvalue().splitlines())

    async def _execute(self, text: str, block: Block) -> None:
        code = compile("\n" * block.line + text, self.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if "asyncio.run(" in text:
            await asyncio.to_thread(exec, code, self._names)
        else:
            found = eval(code, self._names)
            if code.co_flags & CO_COROUTINE:
                await found

    def _said(self, block: Block, printed: list[str]) -> None:
        """Compare what was printed with the comments behind `print(...)`."""
        rest = iter([outputs.calm(line) for line in printed])
        for number, line in enumerate(block.text.splitlines(), block.line):
            comment = re.fullmatch(r" *print\(.*\)  # (.*)", line)
            if comment and outputs.calm(comment[1]) not in rest:
                self._say(number, f"{line}\nwhat was printed:\n" + "\n".join(printed))

    async def _settle(self) -> None:
        """Wait until what was published is decided, and can be read."""
        if not self.shell.url:
            return
        if self._client is None:
            await self._connect()
        if self._unsettled:
            await until_decided(self._wire, await inspect(self._wire, self._settings))
            await known(self._client)
            self._unsettled = False

    async def _connect(self) -> None:
        self._settings = with_key(Settings(nats=(self.shell.url,)))
        self._wire = await self._stack.enter_async_context(Wire.open(self._settings, name="page"))
        self._client = await self._stack.enter_async_context(Client.open(self._settings, source="/me"))

    async def end(self) -> None:
        """Stop what lasts, and compare what it printed."""
        await self._settle()
        await self._stack.aclose()
        for pid, (code, printed) in (await self.shell.stop()).items():
            command, indent = self._shown[pid]
            if code not in (0, 130):
                self._say(command.line, f"$ {command.text}\nended with {code}:\n" + "\n".join(printed))
            if command.shown and not outputs.follows(command.shown, printed):
                self._say(command.line + 1, outputs.difference(command.shown, printed))
                new = [f"{indent}{one}" for one in outputs.renewed(command.shown, printed)]
                self.edits.append((command.line + 1, command.shown, new))


async def run_page(name: str, text: str, folder: Path) -> PageRun:
    """Run all blocks of a page."""
    async with PageRun.opened(name, folder) as run:
        for block in blocks(text):
            await run.block(block)
        await run.end()
        return run


def rewritten(text: str, run: PageRun) -> str:
    """The page with the outputs that were printed."""
    lines = text.splitlines()
    for line, old, new in sorted(run.edits, reverse=True):
        lines[line : line + len(old)] = new
    return "\n".join(lines) + "\n"

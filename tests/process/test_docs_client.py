"""docs/client.md is true: its first sample is run as it stands, the others one after another, with a client."""

import ast
import asyncio
import re
import subprocess
import sys
import tomllib
from inspect import CO_COROUTINE
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import phaseline
from phaseline.engine.client.client import Client
from phaseline.engine.settings import Settings
from tests.support.command import ROOT

PAGE = ROOT / "docs" / "client.md"
FIRST, *OTHERS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def program(url: str, prefix: str) -> str:
    assert 'connect("nats://127.0.0.1:4222")' in FIRST
    return str(FIRST).replace('"nats://127.0.0.1:4222"', f'"{url}", prefix="{prefix}"')


async def run(code: CodeType, names: dict[str, Any]) -> None:
    found = eval(code, names)
    if code.co_flags & CO_COROUTINE:
        await found


async def test_the_samples_run(working: Settings, client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program(working.nats[0], working.prefix)], capture_output=True, text=True,
        check=True, cwd=ROOT,
    )  # fmt: skip
    assert done.stdout == "c1 None -> Creating [Progressing]\n"
    await client.publish_and_wait("cluster", "created", "c1")
    names: dict[str, Any] = {"client": client, "asyncio": asyncio, "phaseline": phaseline}
    for number, sample in enumerate(OTHERS, 1):
        code = compile(sample, f"{PAGE.name}, sample {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        async with asyncio.timeout(60):
            await run(code, names)
    await names["keep"](working.nats[0], working.prefix)
    await asyncio.to_thread(names["script"], working.nats[0], working.prefix)
    said = capsys.readouterr().out
    assert "['c1', 'c7']" in said
    assert "refused: node c1/pool-a/n9 illegal" in said
    assert "c1/pool-a/n1 Failed [NotReady] KubeletStopped" in said


def test_what_the_page_names_is_there() -> None:
    text = PAGE.read_text()
    for name in re.findall(r"`errors\.(\w+)`|\(`(\w+)`, `(\w+)`, `(\w+)`", text):
        for word in filter(None, name):
            assert hasattr(phaseline.errors, word), word
    for path in re.findall(r"\bclient\.([\w.]+)\(", text):
        names = path.split(".")
        owner = Client if len(names) == 1 else getattr(phaseline, names[0].capitalize())
        assert hasattr(owner, names[-1]) or hasattr(phaseline.sync.Client, path), path
    for extra in re.findall(r"phaseline\[(\w+)\]", text):
        assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in re.findall(r"phaseline\.([A-Za-z]\w+)", text.replace("phaseline.errors", "")):
        assert hasattr(phaseline, word), word


def test_the_readme_s_sample_is_python() -> None:
    for sample in re.findall(r"```python\n(.*?)```", (Path(ROOT) / "README.md").read_text(), re.DOTALL):
        compile(sample, "README.md", "exec")

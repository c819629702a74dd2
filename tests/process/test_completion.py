"""Completion in a shell: the command and the scripts that it prints, against a real server."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.support import closed_port
from tests.support.command import COMMAND, Shell
from tests.support.own_installation import Client


async def offered(shell: Shell, *words: str) -> list[str]:
    """What a shell offers for the last word."""
    asking = Shell(**{
        **shell.environment, "COMP_WORDS": " ".join(("phaseline", *words)), "COMP_CWORD": str(len(words)),
        "_PHASELINE_COMPLETE": "bash_complete",
    })  # fmt: skip
    said = await asking()
    assert said.err == ""
    return [line.partition(",")[2] for line in said.out.splitlines() if line]


async def test_a_shell_is_offered_the_ids_of_the_installation(shell: Shell, client: Client) -> None:
    for name in ("c1", "c2", "d1"):
        await client.publish_and_wait("cluster", "create", name)
    await client.publish_and_wait("node", "adopt", "c1/pool/n1", {"phase": "Running"})
    assert await offered(shell, "get", "cluster", "c") == ["c1", "c2"]
    assert await offered(shell, "get", "node", "c1/pool/") == ["c1/pool/n1"]
    assert await offered(shell, "tree", "d") == ["d1"]
    assert await offered(shell, "list", "--tree", "c1/p") == ["c1/pool"]
    assert await offered(shell, "rejec") == ["rejections"]


async def test_without_a_server_a_shell_is_offered_no_ids() -> None:
    assert await offered(Shell(PHASELINE_NATS=closed_port.NATS), "get", "cluster", "c") == []


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
async def test_the_script_of_each_shell_is_printed(name: str) -> None:
    said = await Shell()("completion", name)
    assert said.code == 0
    assert "_PHASELINE_COMPLETE" in said.out


async def test_bash_completes_by_the_script(tmp_path: Path) -> None:
    """A real bash loads the script and completes a command's first letters."""
    bash = shutil.which("bash")
    assert bash is not None
    program = tmp_path / "phaseline"
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(phaseline completion bash)"; COMP_WORDS=(phaseline hist); COMP_CWORD=1; '
        '_phaseline_completion phaseline; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(bash, "-c", script, stdout=asyncio.subprocess.PIPE, env=environment)
    out, _ = await process.communicate()
    assert out.decode().split() == ["history"]

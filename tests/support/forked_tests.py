"""Test processes of pytest-xdist that are forked from one process, which has imported all tests.

Importing the tests and what they need takes most of what a test process does before its first test. So a fork server
imports them once: it collects the tests that are asked for and forgets them. Each test process collects them again,
from modules that are there.
Belongs here: that fork server. Does not: forking (`fork_server`), what a forked test process does (`testing_process`).
"""

import os
import shlex
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked_process
from tests.support.pages import forwarder

ONLY_COLLECT = ("-n0", "--collect-only", "-p", "no:cacheprovider")


def fork(called: pytest.Config.InvocationParams, specs: Iterable[Any]) -> None:
    """Let execnet fork the test processes. called: how pytest was; specs: what execnet is to start."""
    address = forked_process.started("tests.support.forked_tests", str(called.dir), *map(str, called.args))
    variables = (f"PHASELINE_FORKS={address}", f"PHASELINE_PIDS={os.devnull}", "PHASELINE_LASTS=1")
    program = shlex.join(["env", *variables, sys.executable, "-IS", forwarder.__file__])
    for spec in specs:
        spec.python = program


def prepare(folder: str, *words: str) -> None:
    """Collect what pytest was called with. Whatever is wrong with it, the test processes will say."""
    os.chdir(folder)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        pytest.main([*words, *ONLY_COLLECT])
    _draw_once()


def _draw_once() -> None:
    """Let Hypothesis look for constants in all modules, once for all: in a new checkout that takes seconds."""
    from hypothesis import given, settings  # pytest has to import it first
    from hypothesis.strategies import text  # likewise

    settings(max_examples=1, database=None)(given(text())(lambda _: None))()

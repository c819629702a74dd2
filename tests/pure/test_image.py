"""The Dockerfile, read: two stages, nobody as user, nothing that needs a shell when it runs.

Belongs here: what can be said without building it, and what it is built from. Does not: the services of compose.yaml
(`test_compose`), whether what it checks lives (`test_health_check`).
"""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

from tests.support.command_line import command_of

ROOT = Path(__file__).parents[2]
HEALTH = ROOT / "deploy" / "image" / "health.py"
Instruction = tuple[str, str]


def instructions(text: str) -> list[Instruction]:
    """The instructions, each with its words on one line."""
    whole = re.sub(r"\\\n\s*", "", re.sub(r"(?m)^\s*#.*\n", "", text))
    found = [line.partition(" ") for line in whole.splitlines() if line.strip()]
    return [(name, rest.strip()) for name, _, rest in found]


ALL = instructions((ROOT / "Dockerfile").read_text())
LAST = ALL[max(number for number, (name, _) in enumerate(ALL) if name == "FROM") :]


def words(name: str) -> list[str]:
    return [rest for found, rest in LAST if found == name]


def test_it_is_built_in_one_stage_and_runs_in_another() -> None:
    assert [rest.partition(" AS ")[2] for name, rest in ALL if name == "FROM"] == ["build", ""]
    assert words("COPY") == ["--from=build /opt/phaseline /opt/phaseline"]


def test_both_stages_begin_with_an_image_that_can_be_named() -> None:
    first = [rest.partition(" AS ")[0] for name, rest in ALL if name == "FROM"]
    assert first == ["${BASE}", "${BASE}"]
    arguments = [rest for name, rest in ALL[: ALL.index(("FROM", "${BASE} AS build"))] if name == "ARG"]
    assert arguments == ["PYTHON=3.12", "BASE=python:${PYTHON}-slim"]


def test_it_runs_as_nobody() -> None:
    assert words("USER") == ["65534:65534"]
    names = [name for name, _ in LAST]
    assert "RUN" not in names[names.index("USER") :]


@pytest.mark.parametrize("name", ["ENTRYPOINT", "HEALTHCHECK"])
def test_it_needs_no_shell_when_it_runs(name: str) -> None:
    [found] = words(name)
    assert json.loads(found[found.index("[") :])[0] in ("phaseline", "python")


def test_it_asks_a_worker_and_the_http_server_whether_they_live() -> None:
    [found] = words("HEALTHCHECK")
    assert found.endswith('CMD ["python", "/opt/phaseline/health.py"]')
    [(_, built)] = [one for one in ALL if one[0] == "RUN" and "health.py" in one[1]]
    assert "cp deploy/image/health.py /opt/phaseline/health.py" in built
    [metrics] = re.findall(r"PHASELINE_METRICS=127\.0\.0\.1:(\d+)", words("ENV")[0])
    [listen] = [str(param.default) for param in command_of(["serve"])[0].params if param.name == "listen"]
    assert runpy.run_path(str(HEALTH))["PORTS"] == (int(metrics), int(listen.rpartition(":")[2]))


def test_it_installs_by_the_lock_and_nothing_else() -> None:
    [(_, built)] = [one for one in ALL if one[0] == "RUN" and "pip " in one[1]]
    installs = [step.split() for step in built.split("&&") if " install " in step]
    assert len(installs) == 3
    assert all("--require-hashes" in step for step in installs)
    [wheel] = [step.split() for step in built.split("&&") if step.split()[:2] == ["pip", "wheel"]]
    assert {"--no-deps", "--no-build-isolation"} <= set(wheel)


def test_only_what_it_is_built_from_goes_into_it() -> None:
    """A folder of data has a key in it, whatever its name is."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    assert lines[-1] == "**/__pycache__"
    names = [line.removeprefix("!") for line in lines[1:-1]]
    assert all((ROOT / name).exists() for name in names)
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all(any(one == name or one.startswith(f"{name}/") for name in names) for one in wheel["only-include"])
    assert {"requirements.txt", "deploy/image"} <= set(names)
    inside = [path for name in names for path in (ROOT / name).rglob("*") if path.is_symlink()]
    targets = {str(path.resolve().relative_to(ROOT)) for path in inside}
    assert "engine" in targets
    assert targets <= set(names)


def test_instructions_are_found() -> None:
    text = "# a\nFROM x AS y\nRUN one \\\n    && two\n# b\nUSER 1\n"
    assert instructions(text) == [("FROM", "x AS y"), ("RUN", "one && two"), ("USER", "1")]

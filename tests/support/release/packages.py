"""The wheel and the source archive.

Belongs here: building them, what is in them. Does not: installing them (`fresh`).
"""

import hashlib
import sys
import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

from tests.support.release.outcome import ROOT, Release, Wrong, clean_environment, run

BUILD = "import hatchling.build as b, os, sys; os.chdir(sys.argv[1]); print(getattr(b, sys.argv[2])(sys.argv[3]))"
MADE_BY_BUILDING = {"PKG-INFO", ".gitignore"}


def build(source: Path, what: str, into: Path) -> Path:
    """Build a wheel or a source archive from a folder."""
    into.mkdir(parents=True, exist_ok=True)
    made = run(sys.executable, "-c", BUILD, str(source), f"build_{what}", str(into), environment=clean_environment())
    return into / made.split()[-1]


def archives(release: Release) -> tuple[Path, Path]:
    """The wheel and the source archive in `dist`."""
    [wheel] = release.dist.glob(f"phaseline-{release.version}-*.whl")
    return wheel, release.dist / f"phaseline-{release.version}.tar.gz"


def built(release: Release) -> str:
    """Build both, the wheel from the source archive as an index does; each twice, and the bytes are the same."""
    for old in release.dist.glob("phaseline-*"):
        old.unlink()
    sdist = build(ROOT, "sdist", release.dist)
    with tarfile.open(sdist) as archive:
        archive.extractall(release.work / "source", filter="data")
    source = release.work / "source" / sdist.name.removesuffix(".tar.gz")
    wheel = build(source, "wheel", release.dist)
    again = [build(ROOT, what, release.work / "again") for what in ("sdist", "wheel")]
    for first, second in zip((sdist, wheel), again, strict=True):
        if digest(first) != digest(second):
            raise Wrong(
                f"{first.name} has other bytes when it is built again: did a file change meanwhile? Otherwise nobody else can build it"
            )
    return ", ".join(f"{path.name} ({path.stat().st_size // 1024:,} kB)" for path in (wheel, sdist)) + ", reproducible"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def committed() -> set[str]:
    """The files that are committed, and those behind links to folders under the links' names too."""
    found = run("git", "ls-files").splitlines()
    links = {one: (ROOT / one).resolve().relative_to(ROOT).as_posix() for one in found if (ROOT / one).is_symlink()}
    behind = {
        link + one.removeprefix(target)
        for link, target in links.items()
        for one in found
        if one.startswith(f"{target}/")
    }
    return {*found, *behind}


def contents(release: Release) -> str:
    """They hold what is committed and nothing else, and the metadata is what an index takes."""
    wheel, sdist = archives(release)
    names, described = zipfile.ZipFile(wheel).namelist(), f"phaseline-{release.version}.dist-info"
    strange = [one for one in names if one.partition("/")[0] not in ("phaseline", described) or "__pycache__" in one]
    with tarfile.open(sdist) as archive:
        packed = {one.name.partition("/")[2] for one in archive if not one.isdir()}
    strange += sorted(packed - committed() - MADE_BY_BUILDING)
    if strange:
        raise Wrong(f"{len(strange)} files do not belong there, such as {strange[0]}")
    metadata = Metadata.from_email(zipfile.ZipFile(wheel).read(f"{described}/METADATA"), validate=True)
    if (str(metadata.version), metadata.license_expression) != (release.version, "Apache-2.0"):
        raise Wrong(f"the metadata says {metadata.version}, {metadata.license_expression}")
    return f"{len(names)} files in the wheel, {len(packed)} in the source archive, the metadata is valid"

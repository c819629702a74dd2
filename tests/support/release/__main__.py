"""Checks a release, or writes a version: `python3 dev.py release`.

Belongs here: the list of checks, what is printed. Does not: the checks, publishing.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.release import deployables, fresh, packages, state, versions
from tests.support.release.outcome import ROOT, NotChecked, Release, ToDo, Wrong

Check = Callable[[Release], str]
CHECKS: tuple[tuple[str, Check], ...] = (
    ("version",    versions.check),
    ("changelog",  state.changelog),
    ("tree",       state.tree),
    ("tag",        state.tag),
    ("generated",  state.generated),
    ("packages",   packages.built),
    ("contents",   packages.contents),
    ("installed",  fresh.installed),
    ("chart",      deployables.chart),
    ("image",      deployables.image),
    ("site",       deployables.site),
)  # fmt: skip
"""In this order; later ones use what earlier ones made."""
PUBLISH = """\
To publish, once nothing is wrong and nothing is to do (docs/developing/releases.md):
  git tag --annotate v{version} --message 'Phaseline {version}' && git push origin v{version}
  uv publish {dist}/phaseline-{version}-py3-none-any.whl {dist}/phaseline-{version}.tar.gz
  docker build --tag REGISTRY/phaseline:{version} . && docker push REGISTRY/phaseline:{version}
  helm push {dist}/phaseline-{version}.tgz oci://REGISTRY/charts
  copy {dist}/site to where the pages are served
"""


def verdict(check: Check, release: Release) -> tuple[str, str]:
    """What a check finds: right, wrong, to do, or not checked; and its words."""
    try:
        return "right", check(release)
    except Wrong as found:
        return "WRONG", str(found)
    except ToDo as found:
        return "to do", str(found)
    except NotChecked as found:
        return "not checked", str(found)


def checked(release: Release) -> dict[str, str]:
    """Run all checks and print what each finds; the verdicts by name. What was not built has nothing to check."""
    found: dict[str, str] = {}
    for name, check in CHECKS:
        began = time.monotonic()
        needs_packages = name in ("contents", "installed") and found["packages"] != "right"
        found[name], words = ("not checked", "there are no packages") if needs_packages else verdict(check, release)
        print(f"{found[name]:12} {name:10} {words}  ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201
    return found


def main() -> None:
    """Do what is asked for; the exit code is 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python3 dev.py release", description=__doc__.partition("\n")[0])
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--check", action="store_true", help="build into dist what would be published, and check it")
    chosen.add_argument("--write", metavar="X.Y.Z", help="write this version wherever the version stands")
    given = parser.parse_args()
    if given.write:
        write(given.write)
        return
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="release-") as work:
        release = Release(versions.present(), dist, Path(work))
        found = checked(release)
    for path in sorted(dist.glob("phaseline-*")):
        print(f"sha256 {packages.digest(path)}  dist/{path.name}")  # noqa: T201
    print(PUBLISH.format(version=release.version, dist="dist"), end="")  # noqa: T201
    wrong = [name for name, one in found.items() if one == "WRONG"]
    if wrong:
        sys.exit(f"wrong: {', '.join(wrong)}")


def write(version: str) -> None:
    """Write a version, and say what else is to be done."""
    try:
        changed = versions.write(version)
    except Wrong as error:
        sys.exit(str(error))
    print("\n".join(changed) or f"{version} stands everywhere already")  # noqa: T201
    print(f"Now write the section `## {version} - unreleased` in CHANGELOG.md, and commit.")  # noqa: T201


if __name__ == "__main__":
    main()

"""Where the version stands. Belongs here: the one place, the copies of it, writing all. Does not: the changelog."""

import re

from phaseline.schemas.version import __version__
from tests.support.release.outcome import ROOT, Release, Wrong

ORIGIN = "schemas/version.py"
COPIES = (
    # files                                       the version is the group
    (ORIGIN,                                      r'^__version__ = "(.+)"$'),
    ("deploy/helm/phaseline/Chart.yaml",          r"^version: (.+)$"),
    ("deploy/helm/phaseline/Chart.yaml",          r'^appVersion: "(.+)"$'),
    ("deploy/kustomize/base/*.yaml",              r"^ *app\.kubernetes\.io/version: (.+)$"),
    ("deploy/kustomize/base/*.yaml",              r"\bimage: phaseline:(\S+)"),
    ("deploy/kustomize/example/*.yaml",           r"\bnewTag: ([^}\s]+)"),
    ("compose.yaml",                              r"\bimage: phaseline:(\S+)"),
    ("Dockerfile",                                r"\bphaseline:(\d\S*\w)"),
    ("docs/deploy.md",                            r"\bphaseline:(\d[\w.]*\w)"),
)  # fmt: skip
"""pyproject.toml takes the version from the origin; the others are read by programs that cannot."""
FORM = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def places() -> list[tuple[str, str]]:
    """Each place: the file, and the version that stands there."""
    return [
        (path.relative_to(ROOT).as_posix(), found)
        for pattern, expression in COPIES
        for path in sorted(ROOT.glob(pattern))
        for found in re.findall(expression, path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def check(release: Release) -> str:
    """Every place has the same version."""
    found = places()
    others = sorted({f"{file} has {version}" for file, version in found if version != release.version})
    if others:
        raise Wrong(f"{ORIGIN} has {release.version}, but {'; '.join(others)}: python3 dev.py release --write X.Y.Z")
    return f"{release.version} in {len({file for file, _ in found})} files"


def write(version: str) -> list[str]:
    """Write a version into every place; the files that changed."""
    if not FORM.fullmatch(version):
        raise Wrong(f"{version!r} is no version: write one such as 0.2.0 or 1.0.0rc1")
    changed = []
    for pattern, expression in COPIES:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            new = re.sub(expression, lambda found: put(found, version), text, flags=re.MULTILINE)
            if new != text:
                path.write_text(new, encoding="utf-8")
                changed.append(path.relative_to(ROOT).as_posix())
    return sorted(set(changed))


def put(found: re.Match[str], version: str) -> str:
    """What was found, with another version in it."""
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + version + found[0][end:]


def present() -> str:
    """The version of these sources."""
    return __version__

"""The state of the repository.

Belongs here: the tree, the changelog, what is generated, the tag. Does not: artefacts.
"""

import re
import sys

from tests.support.release.outcome import ROOT, Release, ToDo, Wrong, run


def tree(_: Release) -> str:
    """Nothing is changed that is not committed: artefacts are made of a commit."""
    changed = run("git", "status", "--porcelain").splitlines()
    if changed:
        raise Wrong(f"{len(changed)} files are not committed, such as {changed[0].strip()}: commit or remove them")
    return f"clean, commit {run('git', 'rev-parse', '--short', 'HEAD').strip()}"


def section(text: str, version: str) -> tuple[str, str] | None:
    """What stands behind a version in its heading of the changelog, and the text of its section."""
    found = re.search(rf"^## {re.escape(version)} - (.+)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
    return None if found is None else (found[1].strip(), found[2].strip())


def changelog(release: Release) -> str:
    """The version has a section with a date."""
    found = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), release.version)
    if found is None or not found[1]:
        raise Wrong(f"CHANGELOG.md has no section `## {release.version} - DATE` with a text: write it")
    date, text = found
    if date == "unreleased":
        raise ToDo(f"CHANGELOG.md: write the date in place of `unreleased` behind {release.version}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise Wrong(f"CHANGELOG.md has {date!r} behind {release.version}: write the date as 2026-12-31, or unreleased")
    return f"{release.version} of {date}, {len(text.split())} words"


def generated(_: Release) -> str:
    """What is generated is fresh."""
    run(sys.executable, "-m", "phaseline.engine.surfaces.generate", "--check")
    return "pages, schemas and modules are fresh"


def tag(release: Release) -> str:
    """The tag is free, or names this commit."""
    name = f"v{release.version}"
    if not run("git", "tag", "--list", name).strip():
        return f"{name} is free"
    if run("git", "rev-parse", f"{name}^{{commit}}") != run("git", "rev-parse", "HEAD"):
        raise Wrong(f"the tag {name} names another commit: python3 dev.py release --write X.Y.Z")
    return f"{name} names this commit"

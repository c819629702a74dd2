"""An archive that somebody else can write to: nothing outside of it is opened, and no file keeps a reader waiting."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from phaseline.engine import regular_files
from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.replay.archive import check, manifest
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.manifest import NAME, Manifest
from phaseline.engine.replay.archive.read_part import part_file
from phaseline.schemas.errors import BadArchive
from tests.support.archive_parts import made_archive, made_part, read_all


@pytest.fixture(params=["with blocks", "without blocks"])
def whole(tmp_path: Path, request: pytest.FixtureRequest) -> Manifest:
    """An archive of two parts."""
    found = made_archive(tmp_path, blocks=request.param == "with blocks")
    assert check.check(Folder(tmp_path))[0] == found
    return found


def outside(folder: Path) -> Path:
    """A file next to the folder, which an archive has no business with."""
    found = folder.parent / f"{folder.name}-outside"
    found.write_bytes(b"private")
    return found


def pipe_outside(folder: Path) -> Path:
    """A pipe next to the folder, to which nobody writes."""
    found = folder.parent / f"{folder.name}-pipe"
    os.mkfifo(found)
    return found


PLANTED: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a link to a pipe": lambda path: path.symlink_to(pipe_outside(path.parent)),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link out of the folder": lambda path: path.symlink_to(outside(path.parent)),
    "a link to itself": lambda path: path.symlink_to(path),
    "a folder": Path.mkdir,
    "nothing": lambda _: None,
}  # fmt: skip


@pytest.mark.parametrize("victim", [NAME, "part-000001.plog.zst", "part-000002.index"])
@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_no_file_of_the_archive_is_refused_at_once(
    whole: Manifest, tmp_path: Path, victim: str, planted: str
) -> None:
    (tmp_path / victim).unlink()
    PLANTED[planted](tmp_path / victim)
    for use in (read_all, lambda folder: check.check(Folder(folder))):
        with pytest.raises(BadArchive, match=NAME if victim == NAME else victim):
            use(tmp_path)


def test_a_link_within_the_folder_is_followed(whole: Manifest, tmp_path: Path) -> None:
    first = tmp_path / whole.parts[0].name
    first.rename(tmp_path / "moved")
    first.symlink_to("moved")
    read_all(tmp_path)
    assert check.check(Folder(tmp_path))[0] == whole


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "..", ".", "", ".lock", "a/b", "a\\b", "a\nb", "x" * 200])
def test_names_of_parts(whole: Manifest, name: str) -> None:
    renamed = structs.replace(whole, parts=[structs.replace(whole.parts[0], name=name), *whole.parts[1:]])
    with pytest.raises(BadArchive, match=r"manifest\.json"):
        manifest.decode(renamed.encode(), "x")


def test_a_part_is_named_once(whole: Manifest) -> None:
    twice = structs.replace(whole, parts=[structs.replace(one, name="part-1.plog") for one in whole.parts])
    with pytest.raises(BadArchive, match="twice"):
        manifest.decode(twice.encode(), "x")


def test_swapped_and_changed_parts(whole: Manifest, tmp_path: Path) -> None:
    """Every reader notices them, also one that has read the right ones before."""
    store, (first, second) = Folder(tmp_path), whole.parts
    assert len(list(part_file(store, first).items())) == 5
    (tmp_path / first.name).rename(tmp_path / "kept")
    (tmp_path / first.name).write_bytes((tmp_path / second.name).read_bytes())
    with pytest.raises(BadArchive, match=first.name):
        part_file(store, first)
    (tmp_path / first.name).unlink()
    (tmp_path / "kept").rename(tmp_path / first.name)
    assert len(list(part_file(store, first).items())) == 5
    made_part(tmp_path, 1, 1, 4)
    with (tmp_path / first.name).open("ab") as file:
        file.write(b"\0")
    with pytest.raises(BadArchive, match="larger than the manifest says"):
        part_file(store, first)


def test_a_manifest_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BadArchive, match="more than"):
        Folder(tmp_path).manifest()


CHANGED: dict[str, Callable[[Manifest], Manifest]] = {
    "a place far ahead": lambda one: structs.replace(one, place=1 << 40),
    "a time far ahead": lambda one: structs.replace(one, time_ns=1 << 60),
    "an earlier beginning": lambda one: structs.replace(one, begins=one.begins + 3),
    "another first place": lambda one: structs.replace(one, parts=[structs.replace(one.parts[0], lowest=7), *one.parts[1:]]),
    "another checksum": lambda one: structs.replace(one, parts=[*one.parts[:1], structs.replace(one.parts[1], sha256="0" * 64)]),
    "the end cut off": lambda one: structs.replace(one, parts=one.parts[:1], position=4),
    "another number of blocks": lambda one: structs.replace(one, parts=[structs.replace(one.parts[0], blocks=one.parts[0].blocks + 1), *one.parts[1:]]),
    "no blocks": lambda one: structs.replace(one, parts=[structs.replace(part, blocks=7 - 7 * bool(part.blocks)) for part in one.parts]),
    "parts joined": lambda one: structs.replace(one, parts=[structs.replace(one.parts[0], last=9)]),
    "no parts": lambda one: structs.replace(one, parts=[]),
    "the name of another archive": lambda one: structs.replace(one, archive="0" * 12),
}  # fmt: skip


@pytest.mark.parametrize("changed", CHANGED)
def test_a_manifest_that_the_log_does_not_know(whole: Manifest, changed: str) -> None:
    told = whole.note("/me")
    assert whole.noted(told, "x") == whole
    with pytest.raises(BadArchive, match="archive x: "):
        CHANGED[changed](whole).noted(told, "x")


def test_a_manifest_ahead_of_the_log(whole: Manifest) -> None:
    """What the log was not told of does not count: the streams still hold it."""
    early = structs.replace(whole, parts=whole.parts[:1], position=4, place=8, time_ns=4)
    told = early.note("/me")
    assert whole.noted(told, "x") == early
    forged = structs.replace(whole.parts[1], last=1 << 40, highest=1 << 40)
    ahead = structs.replace(whole, parts=[whole.parts[0], forged], position=1 << 40, place=1 << 40, time_ns=1 << 60)
    assert ahead.noted(told, "x") == early
    assert whole.noted(None, "x").ends == ahead.noted(None, "x").ends == (0, 0, 0)
    assert whole.noted(None, "x").parts == []


def test_a_note_of_an_earlier_version(whole: Manifest) -> None:
    """It says only where the archive ends."""
    told = ArchiveNote(whole.position, whole.place, whole.time_ns, whole.archive)
    assert whole.noted(told, "x") == whole
    for changed in ("a place far ahead", "a time far ahead", "the end cut off"):
        with pytest.raises(BadArchive):
            CHANGED[changed](whole).noted(told, "x")


def test_a_draft_replaces_a_link(tmp_path: Path) -> None:
    """Whoever may write to the folder cannot have the operator write elsewhere."""
    victim = outside(tmp_path)
    for name in ("part-000001.plog.zst.part", f"{NAME}.part"):
        (tmp_path / name).symlink_to(victim)
    made_part(tmp_path, 1, 1, 4)
    Folder(tmp_path).write(Manifest.new("pl", 2))
    assert victim.read_bytes() == b"private"
    (tmp_path / ".lock").symlink_to(victim)
    with pytest.raises(BadArchive), Folder(tmp_path).locked():
        pass
    assert victim.read_bytes() == b"private"


def test_bounded_reading(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert regular_files.read(tmp_path, "a", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        regular_files.read(tmp_path, "a", 4)
    with pytest.raises(OSError, match="leads out of the folder"):
        regular_files.read(tmp_path / "b", "../a", 4)

"""Whatever is done to the files of an archive, a reader that the log told of it reads all of it as it was, or refuses.

Belongs here: changes at random. Does not: single attacks, links and pipes among them (`test_archive_tampered`).
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from phaseline.schemas.errors import BadArchive
from tests.support.archive_parts import made_archive, made_part, read_all
from tests.support.prove_scale import scaled
from tests.support.strategies import search

EFFORTS = [
    pytest.param(150, id="short"),
    pytest.param(scaled(20_000, 500), marks=pytest.mark.slow, id="long"),
]


def flipped(data: bytes, dice: Random) -> bytes:
    """One bit is another one."""
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def cut(data: bytes, dice: Random) -> bytes:
    """The end is missing."""
    return data[: dice.randrange(len(data))]


def longer(data: bytes, dice: Random) -> bytes:
    """Something follows."""
    return data + dice.choice((b"\0", b"\n", data, dice.randbytes(20)))


def moved(data: bytes, dice: Random) -> bytes:
    """A piece stands elsewhere."""
    begin, end = sorted((dice.randrange(len(data)), dice.randrange(len(data))))
    at = dice.randrange(len(data))
    rest = data[:begin] + data[end:]
    return rest[:at] + data[begin:end] + rest[at:]


def digits(data: bytes, dice: Random) -> bytes:
    """A digit is another one, which leaves JSON what it was."""
    places = [at for at, byte in enumerate(data) if 48 <= byte < 58]
    at = dice.choice(places) if places else 0
    return data[:at] + b"%d" % dice.randrange(10) + data[at + 1 :]


CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (flipped, cut, longer, moved, digits)


def attack(folder: Path, dice: Random) -> None:
    """Change an archive, by somebody who can write to it and knows how it is made."""
    files = sorted(folder.iterdir())
    for _ in range(dice.choice((1, 1, 2))):
        one = dice.choice(files)
        if not one.exists():
            continue
        what = dice.randrange(10)
        if what == 0:
            one.unlink()
        elif what == 1:
            shutil.copyfile(dice.choice([other for other in files if other.exists()]).rename(folder / "kept"), one)
            (folder / "kept").rename(one if dice.random() < 0.5 else folder / "more")
        elif what == 2:
            first = dice.randrange(1, 9)
            made_part(folder, dice.choice((1, 2, 3)), first, first + dice.randrange(5))
        else:
            one.write_bytes(dice.choice(CHANGES)(one.read_bytes(), dice))


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_changed_archive_reads_as_before_or_is_refused(tmp_path: Path, effort: int) -> None:
    own = tmp_path / "own"
    own.mkdir()
    told = made_archive(own).note("/me")
    before = read_all(own, told)
    refused = 0

    def law(dice: Random) -> None:
        nonlocal refused
        changed = tmp_path / "changed"
        shutil.rmtree(changed, ignore_errors=True)
        shutil.copytree(own, changed)
        attack(changed, dice)
        try:
            assert read_all(changed, told) == before
        except BadArchive:
            refused += 1

    search(effort, law)
    assert refused > effort // 2

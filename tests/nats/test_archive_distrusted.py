"""An archive whose folder somebody else can write to: readers and later runs believe the log's own note."""

from pathlib import Path

import pytest
from msgspec import structs

from phaseline import Moment
from phaseline.schemas.errors import BadArchive
from tests.support.archives import (
    Folder,
    Manifest,
    audit_of_both,
    check,
    messages,
    run_archive,
    states,
    whole_log,
    with_archive,
)
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation
from tests.support.own_installation import OwnInstallation
from tests.support.random_events import RandomEvents
from tests.support.reading import END, AsOf

FAR = 1 << 40


def forged(made: Manifest) -> Manifest:
    """A manifest by which the archive reaches far beyond its end: a file more that nobody wrote."""
    last = made.parts[-1]
    more = structs.replace(last, name="part-999999.plog.zst", first=made.position + 1, last=FAR, lowest=1, highest=FAR)
    return made.extended([more], position=FAR, place=FAR, time_ns=1 << 60)


async def test_newer_records_and_events_stay_in_sight(installation: OwnInstallation, tmp_path: Path) -> None:
    async with installation.having(partitions=2).worker() as layout:
        live, fleet = Installation(installation.wire, layout, BUILT_IN_KINDS), RandomEvents(layout.prefix)
        await installation.publish(list(fleet.built(3, 3)))
        await installation.until_decided()
        before = await whole_log(live)
        made = (await run_archive(live, tmp_path)).manifest
        await installation.publish(list(fleet.life(40, 3, 3)))
        await installation.until_decided()
        newer = await whole_log(live)
        newer = before + [one for one in newer if one[0] > made.place]

        Folder(tmp_path).write(structs.replace(made, place=FAR, time_ns=1 << 60))
        check.check(Folder(tmp_path))  # the files say nothing against it
        for use in (with_archive, run_archive):
            with pytest.raises(BadArchive, match=f"up to event {made.position}, place {made.place}"):
                await use(live, tmp_path)

        # A file more looks like a run that was killed before it could tell the log.
        Folder(tmp_path).write(forged(made))
        both = await with_archive(live, tmp_path)
        assert await whole_log(both) == newer
        history = await AsOf(both, Moment(END, 0)).history("node", "c1/p/n1")
        assert [one.entity.version for one in history] == list(range(1, len(history) + 1))
        assert (await audit_of_both(live, tmp_path)).holds

        # A run believes it neither: it writes the files anew, and trims what they hold.
        done = await run_archive(live, tmp_path)
        assert done.manifest.place < FAR
        assert made.position < done.manifest.position < FAR
        assert check.check(Folder(tmp_path))[0] == done.manifest
        assert await whole_log(await with_archive(live, tmp_path)) == newer
        assert await messages(installation.wire, layout.events) == 0


async def test_files_of_another_time(installation: OwnInstallation, tmp_path: Path) -> None:
    """Swapped parts with a manifest that names them so: only the log knows better."""
    async with installation.having(partitions=2).worker() as layout:
        live, fleet = Installation(installation.wire, layout, BUILT_IN_KINDS), RandomEvents(layout.prefix)
        await installation.publish([*fleet.built(3, 3), *fleet.life(100, 3, 3)])
        await installation.until_decided()
        made = (await run_archive(live, tmp_path)).manifest
        assert len(made.parts) > 1
        first, second = (tmp_path / one.name for one in made.parts[:2])
        kept = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(kept)
        both = await with_archive(live, tmp_path)
        with pytest.raises(BadArchive, match=r"bytes are not those that were written|larger than the manifest says"):
            await whole_log(both)
        with pytest.raises(BadArchive, match=r"bytes are not those that were written|larger than the manifest says"):
            await audit_of_both(live, tmp_path)
        with pytest.raises(BadArchive, match=r"bytes are not those that were written|larger than the manifest says"):
            await states(both, Moment(made.parts[0].lowest + 1, 0))
        sums = [(one.bytes, one.sha256) for one in made.parts[1::-1]]
        named = [
            structs.replace(one, bytes=size, sha256=sha) for one, (size, sha) in zip(made.parts, sums, strict=False)
        ]
        Folder(tmp_path).write(structs.replace(made, parts=[*named, *made.parts[2:]]))
        for use in (with_archive, run_archive):
            with pytest.raises(BadArchive, match="with other files"):
                await use(live, tmp_path)

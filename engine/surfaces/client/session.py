"""What all parts of one client share: the connection, the installation, the tables, the open watches.

Belongs here: `Session`, which finds the installation and the states at a moment. Does not: the methods that users call
(`client`, `entity_view`, `products`).
"""

from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
from msgspec.structs import replace

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.watch import SERVER, Clock, RecordFilter, Watch, feed_of
from phaseline.engine.log.when import NOW, START, Moment, When, parse
from phaseline.engine.nats.stream_reader import StreamReader
from phaseline.engine.nats.streams import Layout, inspect, layout_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import PRODUCTS, installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput, NotPermitted
from phaseline.schemas.subjects import Subjects

if TYPE_CHECKING:
    from phaseline.engine.log.as_of import AsOf
    from phaseline.engine.log.questions.asking import WorkersView

T = TypeVar("T")


class Session(msgspec.Struct):
    """One connection to one installation. `named`: where events come from, if somebody said it."""

    wire: Wire
    settings: Settings
    kinds: Kinds
    named: str | None
    found: Installation | None = None
    """The installation, once the server was asked for it."""
    watches: list[Any] = msgspec.field(default_factory=list)
    """What is closed with it at the latest: watches, and whoever follows."""

    @classmethod
    async def start(cls, settings: Settings, source: str | None, kinds: Kinds | None) -> Self:
        """Connect by these settings. By default events come from the user, and the tables are those installed here."""
        kinds = (kinds or installed(settings.prefix)).guarded_by(PRODUCTS)
        wire = await Wire.start(settings, name="phaseline-client")
        return cls(wire, settings, kinds, source)

    @property
    def source(self) -> str:
        """Where events come from whose publisher gives no other source."""
        from phaseline.engine.publish.compose import default_source  # noqa: PLC0415  # readers have none

        return self.named or default_source("python")

    @property
    def subjects(self) -> Subjects:
        """The subjects of the installation."""
        return Subjects(self.settings.prefix)

    async def installation(self) -> Installation:
        """The installation. The server is asked for it once; raises `NotProvisioned`.

        Users who may not ask the server for it give `partitions` in their settings.
        """
        if self.found is None:
            try:
                layout = await inspect(self.wire, self.settings)
            except NotPermitted:
                if self.settings.partitions is None:
                    raise
                layout = layout_of(self.settings, self.settings.partitions)
            self.found = await self._with_archive(Installation(self.wire, layout, self.kinds))
        return self.found

    async def _with_archive(self, installation: Installation) -> Installation:
        """The installation with the archive that the settings name, if any. Raises `BadArchive`."""
        where = self.settings.archive
        if where is None:
            return installation
        # few read one, and it loads replays
        from phaseline.engine.replay.archive.open_archive import Archive  # noqa: PLC0415

        return replace(installation, archive=await Archive.of(where, installation))

    async def layout(self) -> Layout:
        """The prefix, the streams and the number of partitions; raises `NotProvisioned`."""
        return (await self.installation()).layout

    async def moment(self, when: When) -> Moment:
        """The moment that `when` names; raises `NameUnknown`."""
        from phaseline.engine.log import as_of  # noqa: PLC0415  # most reads are of the latest states

        return await as_of.resolve(await self.installation(), when)

    async def states(self, at: When | None) -> "WorkersView | AsOf":
        """The states at a moment, which is resolved here; None: the latest ones. Raises `NameUnknown`."""
        from phaseline.engine.log.questions.asking import WorkersView  # noqa: PLC0415  # not all commands read states

        installation = await self.installation()
        if at is None:
            return WorkersView(installation)
        from phaseline.engine.log.as_of import AsOf  # noqa: PLC0415  # as in `moment`

        return await AsOf.at(installation, at)

    def watch(self, wanted: RecordFilter, start: When, *, follow: bool, clock: Clock = SERVER) -> Watch[Any]:
        """A watch of these records, closed at the latest with the client."""
        wanted.check(self.kinds)
        if clock == "event" and follow:
            raise InvalidInput.wrong_clock(problem="what is still to come has no place yet")
        if clock == "event":
            from phaseline.engine.log.event_order import EventWatch  # noqa: PLC0415  # few ask for that order

            return self.keep(EventWatch(self._reader, wanted, start, follow=follow))
        return self.keep(Watch(self._reader, wanted, start, follow=follow))

    def keep(self, watch: T) -> T:
        """Close a watch at the latest with the client."""
        self.watches = [*(other for other in self.watches if not other.over), watch]
        return watch

    async def _reader(self, wanted: RecordFilter, start: int | str, follow: bool) -> StreamReader:
        installation = await self.installation()
        log, filters = Log(installation), wanted.filters(installation)
        if start not in (NOW, START):
            from phaseline.engine.log import as_of  # noqa: PLC0415  # as in `moment`

            named = parse(start)
            await as_of.check_begin(installation, named)
            await log.check_at_hand(named)
        return log.reader(filters, start, feed_of(installation.prefix, filters), follows=follow)

    async def close(self) -> None:
        """End the watches that are still open, and disconnect. A second call does nothing."""
        try:
            for watch in self.watches:
                await watch.close()
        finally:
            await self.wire.close()

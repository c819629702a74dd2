"""An archive in an object store: S3 and what speaks its protocol, Google Cloud Storage, Azure.

Belongs here: the calls of obstore, and the copies of parts on this machine. Does not: what every store does (`store`).
Credentials and endpoints come from the environment, by the names that each provider uses.
Two runs at once write parts of different names. The manifest is written only if it is still the one that was read.
"""

import io
import os
import re
import secrets
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from phaseline.engine import outgoing, regular_files
from phaseline.engine.replay.archive.manifest import INDEX, LARGEST, NAME, Manifest
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.schemas import libraries

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")
FEATURE = "an archive in an object store"
CREDENTIAL = re.compile(r"^(AWS|AZURE|GOOGLE|GCP|GCS|MSI|IDENTITY)_.*(KEY|TOKEN|SECRET|PASSWORD|SAS|HEADER)")
"""The names of what providers take from the environment and send."""
COPIES = 16
"""The most parts of which there are copies on this machine: a server may read many, one after the other."""


class Bucket(ArchiveStore):
    """An archive below a prefix of a bucket: `s3://bucket/prefix`, `gs://...`, `az://...`."""

    def __init__(self, url: str, store: "ObjectStore | None" = None, most: int = COPIES) -> None:
        """store: the object store; None for the one that the URL names. most: how many parts are copied."""
        super().__init__()
        self._most, self.name, self.mark = most, url, f"-{secrets.token_hex(2)}"
        with libraries.needed("obstore", FEATURE):
            import obstore  # noqa: PLC0415  # the extra `objects` installs it
            from obstore.store import from_url  # noqa: PLC0415  # likewise
        self._calls: Any = obstore
        self._store = self._try(lambda: from_url(url)) if store is None else store
        self._copies = Path(tempfile.mkdtemp(prefix="phaseline-archive-"))
        weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)
        self._fetching, self._fetched = threading.Lock(), dict[Path, None]()
        """Held while a file is fetched; the copies of parts, the one that was asked for last at the end."""
        self._tag: str | None = None
        """The version of the manifest that was read last; None if there was none."""

    def _try(self, call: Callable[[], T]) -> T:
        """What a call returns; raises `BadArchive` if it fails."""
        try:
            return call()
        except (self._calls.exceptions.BaseError, OSError, ValueError) as error:
            raise self.failed(_said(error)) from None

    def _manifest(self) -> bytes | None:
        try:
            found = self._calls.get(self._store, NAME)
            body = b"".join(_bounded(found, LARGEST))
        except FileNotFoundError:
            self._tag = None
            return None
        except (self._calls.exceptions.BaseError, OSError, ValueError) as error:
            raise self.failed(_said(error)) from None
        self._tag = found.meta["e_tag"]
        return body

    def write(self, content: Manifest) -> None:
        """See `ArchiveStore.write`. Refused if another run has written it since it was read."""
        mode = "create" if self._tag is None else {"e_tag": self._tag}
        try:
            stored = self._calls.put(self._store, NAME, content.encode(), mode=mode)
        except (self._calls.exceptions.AlreadyExistsError, self._calls.exceptions.PreconditionError):
            raise self.failed("another run has written it at the same time: call this one again") from None
        except (self._calls.exceptions.BaseError, OSError) as error:
            raise self.failed(_said(error)) from None
        self._tag = stored["e_tag"]

    def draft(self, name: str) -> Path:
        """See `ArchiveStore.draft`."""
        return self._copies / name

    def _open(self, name: str, most: int | None) -> io.BufferedReader:
        """See `ArchiveStore._open`. The last parts that were fetched are kept, and all indexes."""
        path = self._copies / name
        with self._fetching:
            if not path.exists():
                self._try(lambda: self._fetch(name, path, most))
            file = regular_files.opened(self._copies, name)
            if not name.endswith(INDEX):
                self._fetched[path] = self._fetched.pop(path, None)
                while len(self._fetched) > self._most:  # whoever reads one goes on: it is open
                    oldest = next(iter(self._fetched))
                    del self._fetched[oldest]
                    oldest.unlink(missing_ok=True)
        return file

    def _fetch(self, name: str, path: Path, most: int | None) -> None:
        draft = path.with_name(f"{name}.fetched")
        with regular_files.made(draft) as file:
            file.writelines(_bounded(self._calls.get(self._store, name), most))
        draft.replace(path)

    def _refuse(self, name: str) -> None:
        (self._copies / name).unlink(missing_ok=True)

    def keep(self, name: str) -> None:
        """See `ArchiveStore.keep`. The copy goes, so that the stored one is read back."""
        path = self._copies / name
        self._try(lambda: self._calls.put(self._store, name, path))
        path.unlink()

    def locked(self) -> AbstractContextManager[None]:
        """Nothing keeps other runs out; `write` notices them."""
        return nullcontext()


def _said(error: BaseException) -> str:
    """What an object store says of a request that failed, without the credentials that went with it."""
    known = (value for name, value in os.environ.items() if CREDENTIAL.search(name.upper()))
    return outgoing.said(str(error).partition("\n")[0], known)


def _bounded(found: Any, most: int | None) -> Iterator[bytes]:
    """The bytes of an object, piece by piece; raises `ValueError` if there are more than `most`."""
    taken = 0
    for piece in found.stream():
        taken += len(piece)
        if most is not None and taken > most:
            raise ValueError(f"an object of it has more than {most:,} bytes, which is not what was written")
        yield bytes(piece)

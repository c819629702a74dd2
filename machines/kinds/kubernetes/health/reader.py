"""Typed access to the fields of a manifest that may hold anything.

Belongs here: `ManifestPart`, a map in a manifest with its path, and the error for a field of the wrong type.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from phaseline.machines.kinds.kubernetes.manifest_id import MAPS

Manifest = Mapping[str, Any]


class UnreadableManifest(ValueError):
    """A field has the wrong type: its path, the type expected, the value found."""


class ManifestPart(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The map `found` in a manifest, called `name` in the map `above`.

    An absent or null field reads as the empty value of its type.
    """

    found: Manifest
    name: str = ""
    above: "ManifestPart | None" = None

    @property
    def path(self) -> str:
        """Where it stands in the manifest. Only errors ask for it."""
        return self.name if self.above is None else f"{self.above.path}.{self.name}"

    def _typed(self, name: str, type_: type | tuple[type, ...], called: str) -> Any:
        found = self.found.get(name)
        if found is None or (isinstance(found, type_) and (called == "a boolean" or not isinstance(found, bool))):
            return found
        raise UnreadableManifest(f"{self.path}.{name} must be {called}, found {found!r:.60}")

    def map(self, name: str) -> "ManifestPart":
        """The map of that name; empty if absent."""
        found = self.found.get(name)
        if type(found) is not dict:
            found = self._typed(name, MAPS, "a map") or {}
        return ManifestPart(found, name, self)

    def maps(self, name: str) -> "Iterator[ManifestPart]":
        """The maps in the list of that name."""
        for index, found in enumerate(self._typed(name, list, "a list") or ()):
            if not isinstance(found, MAPS):
                raise UnreadableManifest(f"{self.path}.{name}[{index}] must be a map, found {found!r:.60}")
            yield ManifestPart(found, f"{name}[{index}]", self)

    def text(self, name: str) -> str:
        """The string of that name; empty if absent."""
        found = self.found.get(name)
        return found if type(found) is str else self._typed(name, str, "a string") or ""

    def count(self, name: str) -> int:
        """The whole number of that name; 0 if absent."""
        found = self.found.get(name)
        return found if type(found) is int else self.number(name) or 0

    def number(self, name: str) -> int | None:
        """The whole number of that name, or None. JSON may write it `3.0`."""
        found = self.found.get(name)
        if type(found) is int:
            return found
        found = self._typed(name, (int, float), "a whole number")
        if isinstance(found, float) and not found.is_integer():
            raise UnreadableManifest(f"{self.path}.{name} must be a whole number, found {found!r}")
        return None if found is None else int(found)

    def flag(self, name: str) -> bool:
        """The boolean of that name; False if absent."""
        return bool(self._typed(name, bool, "a boolean"))

    def has(self, name: str) -> bool:
        """Whether the field is present and not null."""
        return self.found.get(name) is not None

"""Reading a manifest of which nothing is known for certain: each member by name, with its type.

Belongs here: a part of a manifest and where it stands. Does not: what any part means.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Manifest = Mapping[str, Any]


class Unreadable(ValueError):
    """A member that is not what its kind has there: where, what it must be, what it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A map in a manifest, and its path. What is absent or null reads as nothing of its type."""

    found: Manifest
    path: str = ""

    def _typed(self, name: str, type_: type | tuple[type, ...], called: str) -> Any:
        found = self.found.get(name)
        if found is None or (isinstance(found, type_) and (called == "a boolean" or not isinstance(found, bool))):
            return found
        raise Unreadable(f"{self.path}.{name} must be {called}, found {found!r:.60}")

    def map(self, name: str) -> "Part":
        """A map; empty where there is none."""
        return Part(self._typed(name, Mapping, "a map") or {}, f"{self.path}.{name}")

    def maps(self, name: str) -> "Iterator[Part]":
        """The maps of a list."""
        for place, found in enumerate(self._typed(name, list, "a list") or ()):
            if not isinstance(found, Mapping):
                raise Unreadable(f"{self.path}.{name}[{place}] must be a map, found {found!r:.60}")
            yield Part(found, f"{self.path}.{name}[{place}]")

    def text(self, name: str) -> str:
        """A string; empty where there is none."""
        return self._typed(name, str, "a string") or ""

    def count(self, name: str) -> int:
        """A whole number; 0 where there is none."""
        return self.number(name) or 0

    def number(self, name: str) -> int | None:
        """A whole number, or None. JSON may write it `3.0`."""
        found = self._typed(name, (int, float), "a whole number")
        if isinstance(found, float) and not found.is_integer():
            raise Unreadable(f"{self.path}.{name} must be a whole number, found {found!r}")
        return None if found is None else int(found)

    def flag(self, name: str) -> bool:
        """A boolean; False where there is none."""
        return bool(self._typed(name, bool, "a boolean"))

    def has(self, name: str) -> bool:
        """Whether there is anything of that name but null."""
        return self.found.get(name) is not None

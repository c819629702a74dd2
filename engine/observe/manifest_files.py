"""Reads Kubernetes objects from files, as `kubectl get -o yaml|json` prints them or as a Git repository holds them.

Belongs here: reading files and directories, expanding lists. Does not: pairing live and desired objects
(`machines.kubernetes.pairs`).
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phaseline.engine.errors import BadManifest
from phaseline.machines.kubernetes import manifest

Manifest = Mapping[str, Any]
ENDINGS = (".yaml", ".yml", ".json")


def read(path: Path) -> Iterator[Manifest]:
    """Every object of a file, a directory of YAML and JSON files, or standard input (`-`). Raises `BadManifest`."""
    for file in sorted(one for one in path.rglob("*") if one.suffix in ENDINGS) if path.is_dir() else (path,):
        for number, found in enumerate(_documents(file), 1):
            yield from objects(found, f"{file}, document {number}")


def documents(path: Path) -> Iterator[tuple[str, Manifest]]:
    """Every document of a file, with its location for errors. Raises `BadManifest` for one that is not a map."""
    for number, found in enumerate(_documents(path), 1):
        where = f"{path}, document {number}"
        if not isinstance(found, Mapping):
            raise BadManifest(where=where, problem=f"it must be a map, found {type(found).__name__}")
        yield where, found


def _documents(file: Path) -> Iterator[Any]:
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        yield from manifest.documents(text)
    except OSError as error:
        raise BadManifest(where=file, problem=error.strerror or error) from error
    except manifest.NotYaml as error:
        raise BadManifest(where=file, problem=error) from error


def objects(found: Any, where: str) -> Iterator[Manifest]:
    """The object itself, or the items of a list of objects. Raises `BadManifest`."""
    if not isinstance(found, Mapping):
        raise BadManifest(where=where, problem=f"it must be an object, found {type(found).__name__}")
    if not isinstance(found.get("kind"), str) or not isinstance(found.get("apiVersion"), str):
        raise BadManifest(where=where, problem="it must have apiVersion and kind, each a string")
    # Some programs write null for an empty list. The name of a custom kind may end in List without it being a list.
    items = found.get("items", False)
    if found["kind"].endswith("List") and (items is None or isinstance(items, list)):
        for index, item in enumerate(items or ()):
            yield from objects(item, f"{where}, item {index}")
    else:
        yield found

"""Kubernetes objects in files, as `kubectl get -o yaml|json` prints them or as a repository keeps them; pairs of them.

Belongs here: reading files and directories, which live object belongs to which desired one. Does not: what they say (`machines`).
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phaseline.engine.errors import BadManifest
from phaseline.machines.health import group_kind
from phaseline.schemas import manifests

Manifest = Mapping[str, Any]
ENDINGS = (".yaml", ".yml", ".json")


class Key(NamedTuple):
    """What an object is called, whatever its version."""

    group: str
    kind: str
    namespace: str
    name: str

    def short(self) -> str:
        """`apps/Deployment:shop/web`, as Argo CD names causes."""
        group, namespace = (f"{part}/" if part else "" for part in (self.group, self.namespace))
        return f"{group}{self.kind}:{namespace}{self.name}"

    def __str__(self) -> str:
        return "/".join(
            part for part in (f"{self.group or 'core'}:{self.kind}", self.namespace or "-", self.name) if part
        )


class Pair(NamedTuple):
    """One resource: what there is, and what Git declares; None where it is not there."""

    key: Key
    live: Manifest | None
    desired: Manifest | None


def key_of(found: Manifest) -> Key:
    """An object's key; empty words where it does not say."""
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return Key(*group_kind(found), str(named.get("namespace") or ""), str(named.get("name") or ""))


def read(path: Path) -> Iterator[Manifest]:
    """Every object of a file, of all such files under a directory, or of standard input (`-`); raises `BadManifest`."""
    for file in sorted(one for one in path.rglob("*") if one.suffix in ENDINGS) if path.is_dir() else (path,):
        for place, found in enumerate(_documents(file), 1):
            yield from objects(found, f"{file}, document {place}")


def documents(path: Path) -> Iterator[tuple[str, Manifest]]:
    """Every document of a file, which must be maps, and where it stands."""
    for place, found in enumerate(_documents(path), 1):
        where = f"{path}, document {place}"
        if not isinstance(found, Mapping):
            raise BadManifest(where=where, problem=f"it must be a map, found {type(found).__name__}")
        yield where, found


def _documents(file: Path) -> Iterator[Any]:
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        yield from manifests.documents(text)
    except OSError as error:
        raise BadManifest(where=file, problem=error.strerror or error) from error
    except manifests.NotYaml as error:
        raise BadManifest(where=file, problem=error) from error


def objects(found: Any, where: str) -> Iterator[Manifest]:
    """The object that a value is, or those of the list that it is; raises `BadManifest`."""
    if not isinstance(found, Mapping):
        raise BadManifest(where=where, problem=f"it must be an object, found {type(found).__name__}")
    if not isinstance(found.get("kind"), str) or not isinstance(found.get("apiVersion"), str):
        raise BadManifest(where=where, problem="it must have apiVersion and kind, each a string")
    # A program that has nothing may say null; a kind of its own may end in List and have no items.
    items = found.get("items", False)
    if found["kind"].endswith("List") and (items is None or isinstance(items, list)):
        for place, item in enumerate(items or ()):
            yield from objects(item, f"{where}, item {place}")
    else:
        yield found


def paired(live: Sequence[Manifest], desired: Sequence[Manifest]) -> list[Pair]:
    """Objects that are the same resource, in the order of what is desired, then of what is live.

    One of each is a pair, whatever they are called. A desired one without a namespace fits a live one in any, where there is one.
    """
    if len(live) == len(desired) == 1:
        return [Pair(key_of(desired[0]), live[0], desired[0])]
    wanted = {key_of(one): one for one in desired}
    there = {key_of(one): one for one in live}
    pairs, used = [], set()
    for key, one in wanted.items():
        fit = key if key in there else _elsewhere(key, there)
        used.add(fit)
        pairs.append(Pair(fit or key, there.get(fit) if fit else None, one))
    return [*pairs, *(Pair(key, one, None) for key, one in there.items() if key not in used)]


def _elsewhere(key: Key, there: Iterable[Key]) -> Key | None:
    found = [one for one in there if not key.namespace and one._replace(namespace="") == key]
    return found[0] if len(found) == 1 else None


def is_owned(live: Manifest) -> bool:
    """Whether something else in the cluster made it, as a ReplicaSet makes Pods: no repository declares such."""
    metadata = live.get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("ownerReferences"))

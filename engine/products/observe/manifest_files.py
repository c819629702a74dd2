"""Reads Kubernetes objects from files, as `kubectl get -o yaml|json` prints them or as a Git repository holds them.

Belongs here: reading files and directories, expanding lists. Does not: pairing live and desired objects
(`kinds.kubernetes.pairs`).
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from phaseline.engine import regular_files
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.schemas import yaml_text
from phaseline.schemas.errors import InvalidInput

ENDINGS = (".yaml", ".yml", ".json")


Tell = Callable[[str], object]
"""Gets what to say about files that can be read: a key that is given twice, a file that is left out."""
TOOLS = ("kustomize.config.k8s.io", "helm.sh", "skaffold")
"""How groups begin whose objects are read by tools, and never stand in a cluster."""
CONFIG = ("v1", "Config")
"""The apiVersion and kind of a kubeconfig."""
TEMPLATE = b"{{"
"""What a file holds that a tool must render first."""


def read(path: Path, tell: Tell = lambda _: None) -> Iterator[Manifest]:
    """Every object of a file, a directory of YAML and JSON files, or standard input (`-`). Raises `InvalidInput`.

    In a directory, files that are no manifests (kustomization.yaml, values of Helm, templates) are left out and told.
    """
    if not path.is_dir():
        for number, found in enumerate(_documents(path, tell), 1):
            where = f"{path}, document {number}"
            if why := _of_a_tool(found):
                tell(f"{where} is left out: {why}")
            else:
                yield from objects(found, where)
        return
    for file in sorted(one for one in path.rglob("*") if one.suffix in ENDINGS):
        try:
            for number, found in enumerate(_documents(file, tell, path), 1):
                where = f"{file}, document {number}"
                if why := no_manifest(found):
                    tell(f"{where} is left out: {why}")
                else:
                    yield from objects(found, where)
        except InvalidInput as error:
            if file.suffix == ".json" or not _is_template(file, path):
                raise
            tell(f"{file} is left out: it is a template, which must be rendered first ({error.details['problem']})")


def _is_template(file: Path, folder: Path) -> bool:
    try:
        return TEMPLATE in _bytes(file, folder)
    except OSError:  # which is what was wrong with it
        return False


def no_manifest(found: Any) -> str:
    """Why a document is nothing that a cluster holds; empty if it may be."""
    if not isinstance(found, Mapping):
        return f"it is no object, but {type(found).__name__}"
    version, kind = found.get("apiVersion"), found.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return "it has no apiVersion and kind, so it is no manifest"
    return _of_a_tool(found)


def _of_a_tool(found: Any) -> str:
    """Why an object that tools read is nothing that a cluster holds; empty for any other."""
    version, kind = (found.get("apiVersion"), found.get("kind")) if isinstance(found, Mapping) else (None, None)
    if isinstance(version, str) and (version.startswith(TOOLS) or (version, kind) == CONFIG):
        return f"{kind} of {version} is read by a tool, and never in a cluster"
    return ""


def documents(path: Path, tell: Tell = lambda _: None) -> Iterator[tuple[str, Manifest]]:
    """Every document of a file, with its location for errors. Raises `InvalidInput` for one that is not a map."""
    for number, found in enumerate(_documents(path, tell), 1):
        where = f"{path}, document {number}"
        if not isinstance(found, Mapping):
            raise InvalidInput.bad_manifest(where=where, problem=f"it must be a map, found {type(found).__name__}")
        yield where, found


def _bytes(file: Path, folder: Path | None) -> bytes:
    """What a file holds. folder: the one that was named, if not the file itself; nothing outside of it is read."""
    if folder is None:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    with regular_files.opened(folder, file.relative_to(folder)) as opened:
        return opened.read()


def _documents(file: Path, tell: Tell, folder: Path | None = None) -> Iterator[Any]:
    told: list[str] = []
    try:
        text = _bytes(file, folder)
        if file.suffix == ".json":
            yield from yaml_text.json_documents(text, told)
        else:
            yield from _either(text, told)
    except OSError as error:
        raise InvalidInput.bad_manifest(where=file, problem=error.strerror or str(error)) from error
    except yaml_text.NotYaml as error:
        raise InvalidInput.bad_manifest(where=file, problem=str(error)) from error
    finally:
        for one in told:
            tell(f"{file}: {one}")


def _either(text: bytes, told: list[str]) -> Iterator[Any]:
    """The documents of a text that does not say whether it is JSON or YAML."""
    if text.lstrip()[:1] in (b"{", b"["):
        said: list[str] = []
        with suppress(yaml_text.NotYaml):
            found = [*yaml_text.json_documents(text, said)]
            told += said
            yield from found
            return
    yield from yaml_text.documents(text, told)


def objects(found: Any, where: str) -> Iterator[Manifest]:
    """The object itself, or the items of a list of objects. Raises `InvalidInput.bad_manifest`."""
    if not isinstance(found, Mapping):
        raise InvalidInput.bad_manifest(where=where, problem=f"it must be an object, found {type(found).__name__}")
    if not isinstance(found.get("kind"), str) or not isinstance(found.get("apiVersion"), str):
        raise InvalidInput.bad_manifest(where=where, problem="it must have apiVersion and kind, each a string")
    # Some programs write null for an empty list. The name of a custom kind may end in List without it being a list.
    items = found.get("items", False)
    if found["kind"].endswith("List") and (items is None or isinstance(items, list)):
        if (metadata := found.get("metadata")) and isinstance(metadata, Mapping) and metadata.get("continue"):
            problem = "it is only a part of a list (metadata.continue): give the whole, as kubectl get prints it"
            raise InvalidInput.bad_manifest(where=where, problem=problem)
        for index, item in enumerate(items or ()):
            yield from objects(item, f"{where}, item {index}")
        return
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    for name in ("name", "namespace"):
        if isinstance(value := named.get(name), bool | int | float):
            problem = f"metadata.{name} is {json.dumps(value)}, as YAML reads it: write it in quotes, as a string"
            raise InvalidInput.bad_manifest(where=where, problem=problem)
    yield found

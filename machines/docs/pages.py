"""`python -m phaseline.machines.docs.pages` writes or checks the pages and schemas that are made from tables and types.

Belongs here: which file holds what, how its JSON is laid out; the digest of the built-in tables, which stands in
`built_in`. Does not: what is in the files (`markdown`,
`known_kinds`, `json_schema`, `asyncapi`), the reference of the command (`surfaces.generate` writes that too).
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phaseline.machines import built_in
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs import asyncapi, json_schema, known_kinds, markdown, written_parts

COMMAND = "python -m phaseline.machines.docs.pages"
SCHEMAS = Path("schemas/json")
TABLES = Path("machines/built_in.py")
_SOUND = re.compile(r'(?m)^SOUND = ".*"$')
WIDTH = 160
"""Characters that a line of generated JSON may have, unless it holds a single text."""


def pages(found: Kinds, prefix: str) -> dict[Path, str]:
    """Every generated file by its path from the project's root."""
    schemas = {SCHEMAS / path: layout(schema) for path, schema in json_schema.files(found).items()}
    return {
        Path("docs/machines.md"): markdown.book(found, COMMAND),
        Path("docs/known-kinds.md"): known_kinds.page(COMMAND),
        Path("schemas/asyncapi.json"): layout(asyncapi.document(found, prefix)),
        **schemas,
    }


def stale(root: Path, wanted: dict[Path, str]) -> list[Path]:
    """Files under `root` that are missing or differ from `wanted`, and schemas that are no longer generated."""
    differing = [path for path, text in wanted.items() if _read(root / path) != text]
    present = {path.relative_to(root) for path in (root / SCHEMAS).rglob("*.json")}
    return sorted({*differing, *(present - wanted.keys())})


def write(root: Path, wanted: dict[Path, str]) -> list[Path]:
    """Write the stale files under `root`, and delete schemas that are no longer generated. Returns their paths."""
    changed = stale(root, wanted)
    for path in changed:
        if path in wanted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(wanted[path], encoding="utf-8")
        else:
            (root / path).unlink()
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; 1 if `--check` finds a stale file."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Write docs/machines.md, docs/known-kinds.md, schemas/json and asyncapi.json."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    parser.add_argument("--prefix", default="pl", help="the installation's prefix (default: pl)")
    parser.add_argument("--installed", action="store_true", help="include the kinds of installed packages")
    chosen = parser.parse_args(arguments)
    wanted = pages(
        built_in.installed() if chosen.installed else Kinds(built_in.BUILT_IN, products=built_in.PRODUCTS),
        chosen.prefix,
    )
    changed = stale(chosen.to, wanted) if chosen.check else write(chosen.to, wanted)
    for path in changed:
        sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {path}\n")
    return 1 if chosen.check and changed else 0


def with_digest(module: str) -> str:
    """The module with the digest of the present tables. Raises `WrongTable` if they cannot work."""
    return _SOUND.sub(f'SOUND = "{Kinds(built_in.BUILT_IN).digest}"', module)


def keep_digest(arguments: Sequence[str] | None = None) -> int:
    """Check the built-in tables, and write or check their digest; 1 if `--check` finds another one."""
    return written_parts.keep_part(arguments, written_parts.COMMAND, TABLES, with_digest)


def layout(schema: dict[str, Any]) -> str:
    """The text of a file of JSON, with as much on a line as `WIDTH` allows."""
    return _json(schema, "", 0) + "\n"


def _json(value: Any, indent: str, before: int) -> str:
    """JSON on one line if it fits, else spread over lines. `before`: characters that stand before it on its line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(indent) + before + len(line) < WIDTH:
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        spread = [_json(part, deeper, 0) for part in value]
        lines = spread if any(isinstance(part, dict | list) for part in value) else _filled(spread, WIDTH - len(deeper))
        return "\n".join(["[", ",\n".join(deeper + each for each in lines), indent + "]"])
    names = {json.dumps(name, ensure_ascii=False): part for name, part in value.items()}
    parts = [f"{deeper}{name}: {_json(part, deeper, len(name) + 2)}" for name, part in names.items()]
    return "\n".join(["{", ",\n".join(parts), indent + "}"])


def _filled(words: list[str], width: int) -> list[str]:
    """Lines of as many words as fit, with commas between them."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())

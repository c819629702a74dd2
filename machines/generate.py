"""`python -m phaseline.machines.generate`: the pages and schemas that are made from tables and types, written or checked.

Belongs here: which file gets what. Does not: what is in them (`markdown`, `json_schema`, `asyncapi`).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phaseline.machines import asyncapi, built_in, json_schema, markdown
from phaseline.machines.kinds import Kinds

COMMAND = "python -m phaseline.machines.generate"
SCHEMAS = Path("schemas/json")


def pages(found: Kinds, prefix: str) -> dict[Path, str]:
    """Every generated file by its path from the project's root."""
    schemas = {SCHEMAS / path: _text(schema) for path, schema in json_schema.files(found).items()}
    return {
        Path("docs/machines.md"): markdown.book(found, COMMAND),
        Path("schemas/asyncapi.json"): _text(asyncapi.document(found, prefix)),
        **schemas,
    }


def stale(root: Path, wanted: dict[Path, str]) -> list[Path]:
    """Files under `root` that are missing or not as they should be, and schemas that nothing makes any more."""
    differing = [path for path, text in wanted.items() if _read(root / path) != text]
    present = {path.relative_to(root) for path in (root / SCHEMAS).rglob("*.json")}
    return sorted({*differing, *(present - wanted.keys())})


def write(root: Path, wanted: dict[Path, str]) -> list[Path]:
    """Make the files under `root` what they should be; says which were not."""
    changed = stale(root, wanted)
    for path in changed:
        if path in wanted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(wanted[path], encoding="utf-8")
        else:
            (root / path).unlink()
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; 1 where `--check` finds something stale."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Write docs/machines.md, schemas/json and asyncapi.json."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a file is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    parser.add_argument("--prefix", default="pl", help="the installation's prefix (default: pl)")
    parser.add_argument("--installed", action="store_true", help="with the kinds of installed packages too")
    chosen = parser.parse_args(arguments)
    wanted = pages(built_in.installed() if chosen.installed else Kinds(built_in.BUILT_IN), chosen.prefix)
    changed = stale(chosen.to, wanted) if chosen.check else write(chosen.to, wanted)
    for path in changed:
        sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {path}\n")
    return 1 if chosen.check and changed else 0


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())

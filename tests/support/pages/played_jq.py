"""Plays the command `jq`, by the library of the same name, with the options -r and -c.

Belongs here: that program, as far as pages use it. Does not: starting it (`forwarder`).
"""

import json
import sys

import jq  # type: ignore[import-not-found]  # it ships no types


def main(*words: str) -> None:
    *options, program = words
    for found in jq.compile(program).input_text(sys.stdin.read()):
        plain = isinstance(found, str) and "-r" in options
        print(found if plain else json.dumps(found, indent=None if "-c" in options else 2, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])

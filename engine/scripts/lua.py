"""Lua in the child process: Argo CD's health scripts, unchanged.

Belongs here: running one script on one object. Does not: what a script sees of Lua (the file prelude.lua), which
script applies (`kinds.kubernetes.overrides`).
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from lupa import lua52  # type: ignore[import-untyped]  # it ships no types

INSTRUCTIONS = 250_000
"""The most steps of a script, 1 to 15 ms. Unlike a time limit, it is the same on every machine."""
PATTERN_WORK = 10**12
"""The most steps that a search for a pattern may need in the worst case. Such a search is one step of the script."""
LIBRARY_WORK = 20_000_000
"""The most steps of library functions, which are none of the script: about 50 ms."""
MEMORY = 64 << 20
"""The most bytes that a script may take, what it no longer uses included."""
PRELUDE = resources.files(__package__).joinpath("prelude.lua").read_text("utf-8")
NO_TEXT = "it raised an error that is no text"
_NOISE = re.compile(r"^prelude:\d+: |^(bad argument #\d+) to '[^']*'|\n?stack traceback:.*", re.DOTALL)
"""What says nothing about a script, or differs: lines of ours, and the name of a function that no line called."""
_TOKEN = re.compile(
    r"""--\[(=*)\[.*?\]\1\] | --[^\n]* | \[(=*)\[.*?\]\2\]
    | "(?:\\z\s*|\\\r\n|\\.|[^"\\\n])*" | '(?:\\z\s*|\\\r\n|\\.|[^'\\\n])*' | (?P<length>\#)""",
    re.VERBOSE | re.DOTALL,
)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run `script` on `object` at `now` (whole s); returns `{status, message}`, `{}` for no answer, or `{error}`."""
    try:
        runtime = lua52.LuaRuntime(
            register_eval=False, register_builtins=False, unpack_returned_tuples=False, max_memory=MEMORY,
            attribute_filter=_refuse,
        )  # fmt: skip
        function = _compiled(runtime, request["script"])
        runtime.globals().obj = _table(runtime, request["object"])
        runtime.compile(_prelude(), mode="b")(request["now"], INSTRUCTIONS, PATTERN_WORK, LIBRARY_WORK)
        return _answer(function())
    except (lua52.LuaMemoryError, MemoryError):
        return {"error": f"it needed more than {MEMORY >> 20} MB"}
    except lua52.LuaError as error:
        return {"error": _NOISE.sub(r"\1", str(error)) or NO_TEXT}
    except (UnicodeError, RecursionError) as error:
        return {"error": str(error)}


@cache
def _prelude() -> bytes:
    """What runs before each script, as bytes that Lua reads ten times as fast as the text."""
    runtime = lua52.LuaRuntime(encoding=None)
    dump = runtime.eval(b"string.dump")
    return bytes(dump(runtime.compile(PRELUDE.encode(), name=b"=prelude")))


def _compiled(runtime: Any, script: str) -> Any:
    """The script as a function; raises `LuaError`, in the words of the script, if it is no Lua."""
    try:
        return runtime.compile(with_our_length(script), name="=script", mode="t")
    except lua52.LuaError:
        return runtime.compile(script, name="=script", mode="t")


@lru_cache(maxsize=256)
def with_our_length(script: str) -> str:
    """A script with `true^` for each operator `#`, so that `prelude.lua` says how long a list with holes is.

    Lua reads both alike: `^` takes the same operand, and binds no other way than `#` whatever stands around it.
    """
    return _TOKEN.sub(lambda found: " true^" if found["length"] else found[0], script)


def _refuse(*_: object) -> str:
    """Forbid scripts to read attributes of Python objects."""
    raise AttributeError("not for scripts")


def _table(runtime: Any, value: Any) -> Any:
    """A JSON value as a Lua value. Null is left out of maps and lists."""
    if isinstance(value, Mapping):
        return runtime.table_from({name: _table(runtime, each) for name, each in value.items() if each is not None})
    if isinstance(value, list):
        return runtime.table_from([_table(runtime, each) for each in value if each is not None])
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _answer(result: Any) -> dict[str, Any]:
    if result is None:
        return {}
    if lua52.lua_type(result) != "table":
        return {"error": f"it must return a table, and returned {_described(result)}"}
    status, message = result["status"], result["message"]
    for name, value in (("status", status), ("message", message)):
        if value is not None and not isinstance(value, str):
            return {"error": f"{name} must be a string, found a {lua52.lua_type(value) or type(value).__name__}"}
    return {name: value for name, value in (("status", status), ("message", message)) if value}


def _described(result: Any) -> str:
    """A result that is no table: its value if it has no address."""
    if isinstance(result, tuple):
        return f"{len(result)} values"
    return f"a {lua52.lua_type(result)}" if lua52.lua_type(result) else f"{result!r:.60}"

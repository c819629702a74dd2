"""Lua in the child process: Argo CD's health scripts, unchanged.

Belongs here: running one script on one object, and what the script may access. Does not: which script applies
(`machines.kubernetes.overrides`).
"""

import json
from collections.abc import Mapping
from typing import Any

from lupa import lua52  # type: ignore[import-untyped]  # it ships no types

INSTRUCTIONS = 50_000_000
"""The most steps of a script, about 0.1 s. Unlike a time limit, it is the same on every machine."""
MEMORY = 64 << 20
"""The most memory of a script in bytes."""

PRELUDE = """
local python_now, steps = ...
local date, time, difftime, sethook = os.date, os.time, os.difftime, debug.sethook
os = {
    time = function(t) if t == nil then return python_now end return time(t) end,
    date = function(f, t) return date(f or "%c", t or python_now) end,
    difftime = difftime,
}
local small = os
require = function(name)
    if name == "os" then return small end
    error("require of " .. tostring(name) .. ": only os is there")
end
unpack = table.unpack
table.getn = function(t) return #t end
table.maxn = table.maxn or function(t)
    local n = 0
    for k in pairs(t) do if type(k) == "number" and k > n then n = k end end
    return n
end
math.pow = math.pow or function(a, b) return a ^ b end
math.mod = math.mod or math.fmod
string.gfind = string.gfind or string.gmatch
string.dump = nil
print = function() end
for _, name in ipairs({"io", "debug", "package", "load", "loadstring", "loadfile", "dofile", "module",
                       "collectgarbage", "python", "coroutine"}) do
    _G[name] = nil
end
sethook(function() error("it took more than " .. steps .. " steps", 0) end, "", steps)
"""
"""Removes files, processes and loading of code from a script's view, and fixes its clock."""


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run `script` on `object` at `now` (whole s); returns `{status, message}`, `{}` for no answer, or `{error}`."""
    try:
        runtime = lua52.LuaRuntime(
            register_eval=False, register_builtins=False, unpack_returned_tuples=False, max_memory=MEMORY,
            attribute_filter=_refuse,
        )  # fmt: skip
        function = runtime.compile(request["script"], name="=script")
        runtime.globals().obj = _table(runtime, request["object"])
        runtime.execute(PRELUDE, request["now"], INSTRUCTIONS)
        return _answer(function())
    except (lua52.LuaMemoryError, MemoryError):
        return {"error": f"it needed more than {MEMORY >> 20} MB"}
    except (lua52.LuaError, UnicodeError, RecursionError) as error:
        return {"error": str(error) or "it raised an error that is no text"}


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
        return {"error": f"it must return a table, and returned {json.dumps(result, default=str):.60}"}
    status, message = result["status"], result["message"]
    for name, value in (("status", status), ("message", message)):
        if value is not None and not isinstance(value, str):
            return {"error": f"{name} must be a string, found a {lua52.lua_type(value) or type(value).__name__}"}
    return {name: value for name, value in (("status", status), ("message", message)) if value}

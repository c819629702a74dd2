"""Lua in the child process: Argo CD's health scripts, unchanged.

Belongs here: running one script on one object, and what the script may access. Does not: which script applies
(`machines.kubernetes.overrides`).
"""

import json
from collections.abc import Mapping
from typing import Any

from lupa import lua52  # type: ignore[import-untyped]  # it ships no types

INSTRUCTIONS = 250_000
"""The most steps of a script, 1 to 15 ms. Unlike a time limit, it is the same on every machine."""
PATTERN_WORK = 10**12
"""The most steps that a search for a pattern may need in the worst case. Such a search is one step of the script."""
MEMORY = 64 << 20
"""The most memory of a script in bytes."""

PRELUDE = """
local python_now, steps, pattern_work = ...
local date, time, difftime, sethook = os.date, os.time, os.difftime, debug.sethook
local gsub, sub, type, error, pack, unpack_ = string.gsub, string.sub, type, error, table.pack, table.unpack
local setmetatable_, rawget = setmetatable, rawget
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
local function bounded(name, search)
    return function(text, pattern, more, plain)
        if type(text) == "string" and type(pattern) == "string" and not (name == "find" and plain) then
            local _, loops = gsub(gsub(pattern, "%%.", ""), "[*+-]", "")
            local from = (sub(pattern, 1, 1) == "^") and 0 or 1
            if loops > 0 and (#text + 1) ^ (loops + from) > pattern_work then
                error("string." .. name .. ": " .. loops .. " repeats in a pattern are too many for a text of " ..
                      #text .. " characters; shorten the text, or search for less at once", 2)
            end
        end
        return search(text, pattern, more, plain)
    end
end
for _, name in ipairs({"find", "match", "gmatch", "gfind", "gsub"}) do
    string[name] = bounded(name, string[name])
end
setmetatable = function(t, m)  -- finalizers would run without a limit of steps
    if type(m) == "table" and rawget(m, "__gc") ~= nil then error("__gc: a script has no finalizers", 2) end
    return setmetatable_(t, m)
end
local find, try = string.find, pcall
local function tried(ok, problem, ...)
    -- The hook below cannot be called at the end of the stack. So nobody goes on from there.
    if not ok and type(problem) == "string" and (find(problem, "stack overflow", 1, true) or
                                                 find(problem, "error in error handling", 1, true)) then
        error(problem, 0)
    end
    return ok, problem, ...
end
pcall = function(...) return tried(try(...)) end
local pcall = pcall
xpcall = function(f, handler, ...)  -- the original runs the handler without a limit of steps
    local found = pack(pcall(f, ...))
    if found[1] then return unpack_(found, 1, found.n) end
    return false, handler(found[2])
end
local function over()
    sethook(over, "", 1)  -- again at each step, so that no pcall goes on
    error("it took more than " .. steps .. " steps", 0)
end
sethook(over, "", steps)
"""
"""Removes files, processes and loading of code from a script's view, fixes its clock, and bounds its steps."""


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run `script` on `object` at `now` (whole s); returns `{status, message}`, `{}` for no answer, or `{error}`."""
    try:
        runtime = lua52.LuaRuntime(
            register_eval=False, register_builtins=False, unpack_returned_tuples=False, max_memory=MEMORY,
            attribute_filter=_refuse,
        )  # fmt: skip
        function = runtime.compile(request["script"], name="=script")
        runtime.globals().obj = _table(runtime, request["object"])
        runtime.execute(PRELUDE, request["now"], INSTRUCTIONS, PATTERN_WORK)
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

"""Runs users' scripts (Lua, jq) in a process of its own, which is killed when it takes too long.

Belongs here: `sandbox` (the process), `child` (what runs in it), `lua`, `jq_paths`, and `runner` (the `ScriptRunner` that
rules ask). Does not: what an answer means (`machines.kubernetes`).
"""

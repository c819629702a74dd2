"""Runs users' scripts (Lua, jq) in a child process, which is killed if a script takes too long.

Belongs here: `runner` (called by rules), `sandbox` (the child process seen from the parent), `child` (its main loop),
`lua` (what a script sees stands in prelude.lua), `jq_check` and `jq_paths` (the languages). Does not:
choosing a script, and the meaning of its result (`kinds.kubernetes`).
"""

"""Health scripts in Lua: as people write them for Argo CD, and at random.

Belongs here: `EVERYDAY`, `OBJECT`, `random_script`. Does not: running them (`phaseline.engine.scripts`), laws.
"""

from random import Random
from typing import Any

OBJECT: dict[str, Any] = {
    "apiVersion": "shop.example/v1",
    "kind": "Stack",
    "metadata": {
        "name": "web", "generation": 3,
        "labels": {name: f"v{n}" for n, name in enumerate(["app", "tier", "env", "team", "owner", "part-of", "release", "zone"])},
        "annotations": {f"shop.example/{name}": name * 2 for name in "abcdefghij"},
    },
    "spec": {"replicas": 3, "paused": False, "ports": [80, 443, 8080]},
    "status": {
        "observedGeneration": 3,
        "phases": {"db": "Ready", "cache": "Waiting", "web": "Ready", "jobs": "Failed"},
        "conditions": [
            {"type": "Synced", "status": "True", "reason": "Ok", "message": "all there"},
            {"type": "Ready", "status": "False", "reason": "Probe", "message": "no answer"},
            {"type": "Stalled", "status": "Unknown"},
        ],
    },
}  # fmt: skip

EVERYDAY = {
    "labels in a message": """
local said = ""
for name, value in pairs(obj.metadata.labels) do said = said .. name .. "=" .. value .. ";" end
return {status = "Healthy", message = said}
""",
    "the first phase that is not ready": """
for part, phase in pairs(obj.status.phases) do
  if phase ~= "Ready" then return {status = "Progressing", message = part .. " is " .. phase} end
end
return {status = "Healthy"}
""",
    "phases counted": """
local counts, said = {}, {}
for _, phase in pairs(obj.status.phases) do counts[phase] = (counts[phase] or 0) + 1 end
for phase, count in pairs(counts) do table.insert(said, count .. " " .. phase) end
return {status = "Healthy", message = table.concat(said, ", ")}
""",
    "any annotation": """
if next(obj.metadata.annotations) ~= nil then
  local name, value = next(obj.metadata.annotations)
  return {status = "Healthy", message = name .. value}
end
""",
    "a loop by next": """
local said = ""
for name in next, obj.metadata.annotations do said = said .. name end
local name, value = next(obj.metadata.labels)
while name do said = said .. name name, value = next(obj.metadata.labels, name) end
return {status = "Healthy", message = said}
""",
    "a table in a message": """
return {status = "Degraded", message = "conditions: " .. tostring(obj.status.conditions)}
""",
    "a table formatted": """
return {status = "Degraded", message = string.format("%s of %d: %s", obj.kind, #obj.spec.ports, obj.spec)}
""",
    "an error with a table": """
local ok, problem = pcall(function() return "phases: " .. obj.status.phases end)
return {status = "Degraded", message = tostring(ok) .. problem}
""",
    "an error raised with a table": "error({code = 1})",
    "an error of a called function": """
local _, problem = pcall(unpack)
local _, other = pcall(select, 0)
return {status = "Degraded", message = problem .. other}
""",
    "a function instead of an answer": "return tostring",
    "two answers": "return obj, {}",
    "spread by chance": """
math.randomseed(os.time())
return {status = "Progressing", message = "again in " .. math.random(60) .. " s, " .. math.random()}
""",
    "the day": """
return {status = "Healthy", message = os.date() .. os.date("!%H:%M") .. os.time({year = 2024, month = 7, day = 1})}
""",
    "conditions by their number": """
local bad = {}
for i = 1, #obj.status.conditions do
  local condition = obj.status.conditions[i]
  if condition.status ~= "True" then bad[#bad + 1] = condition.type .. ": " .. (condition.message or "no message") end
end
if #bad > 0 then return {status = "Degraded", message = table.concat(bad, "; ")} end
return {status = "Healthy"}
""",
    "removed while it is read": """
local left = obj.metadata.labels
for name, value in pairs(left) do
  if value == "v3" or value == "v5" then left[name] = nil end
end
local said = {}
for name in pairs(left) do said[#said + 1] = name end
return {status = "Healthy", message = table.concat(said, " ")}
""",
    "a memory that forgets": """
local seen, said = setmetatable({}, {__mode = "k"}), 0
for n = 1, 2000 do seen[{n}] = n end
for _ in pairs(seen) do said = said + 1 end
return {status = "Healthy", message = tostring(said)}
""",
    "the library changed": """
string.format = function() return "mine" end
getmetatable("").__index = function() return 1 end
table.concat, pairs, next, left = nil, nil, nil, obj
_G.tostring = function() return "mine" end
return {status = "Healthy", message = tostring(1)}
""",
    "all that there is": """
local names = {}
for name in pairs(_G) do names[#names + 1] = name end
for name in pairs(string) do names[#names + 1] = name end
return {status = "Healthy", message = table.concat(names, " ")}
""",
    "sorted by what is equal": """
local all = {}
for name, value in pairs(obj.metadata.labels) do all[#all + 1] = {name, #value} end
table.sort(all, function(a, b) return a[2] < b[2] end)
local said = ""
for _, one in ipairs(all) do said = said .. one[1] end
return {status = "Healthy", message = said}
""",
}
"""By name, scripts that do what people do. Lua answers many of them in another way in each process."""

_KEYS = ["'a'", "'b'", "'cc'", "'d'", "'e'", "1", "2", "3", "4", "5", "7", "9", "16", "0.5", "-1", "true", "false"]
_VALUES = ["1", "2", "'x'", "nil", "nil", "{}", "false", "print", "'a'", "t"]
_STATEMENTS = [
    "t[{key}] = {value}",
    "t[{key}] = {value}",
    "t[{key}] = nil",
    "say(#t)",
    "say(rawlen(t))",
    "say(next(t))",
    "say(next(t, {key}))",
    "for k, v in pairs(t) do say(k, v) end",
    "for k in next, t do say(k) t[k] = {value} end",
    "for k in pairs(t) do for j in pairs(t) do if j == {key} then t[j] = nil end end say(k) end",
    "say(pcall(table.insert, t, {value}))",
    "say(pcall(table.insert, t, {key}, {value}))",
    "say(pcall(table.remove, t))",
    "say(pcall(table.remove, t, {key}))",
    "say(pcall(table.concat, t, ','))",
    "say(pcall(table.sort, t))",
    "say(pcall(table.sort, t, function(a, b) return tostring(a) < tostring(b) end))",
    "say(pcall(function() return unpack(t) end))",
    "say(pcall(string.format, '%s %s', t, {value}))",
    "say(pcall(string.format, '%d', {value}))",
    "say(math.random(1, 9), table.maxn(t), table.getn(t))",
    "say(pcall(function() return t .. {value} end))",
    "say(pcall(function() return t[{key}].x.y end))",
    "say(pcall(function() return #{value} end))",
    "say(pcall(select, {value}))",
    "say(pcall(string.rep, {value}))",
    "t = {{{value}, {value}, {value}, a = 1, {value}}}",
    "t = setmetatable(t, {{__mode = 'v'}})",
    "t = {{t, x = {value}}}",
]


def random_script(chance: Random) -> str:
    """A script that does with a table what Lua leaves open, and says all that it sees."""
    lines = [
        chance.choice(_STATEMENTS).format(key=chance.choice(_KEYS), value=chance.choice(_VALUES))
        for _ in range(chance.randint(3, 40))
    ]
    return "\n".join((
        "local t, said = {}, {}",
        "local function say(...)",
        "  for n = 1, select('#', ...) do said[#said + 1] = tostring((select(n, ...))) end",
        "end",
        *lines,
        "for k, v in pairs(t) do say(k, v) end",
        "return {status = 'Healthy', message = table.concat(said, ' ')}",
    ))  # fmt: skip

-- What a health script sees of Lua: nothing that reaches outside, and nothing that answers differently the next time.
-- It runs before each script, in a fresh interpreter. `lua.py` gives it the time and the limits.
-- Lua's own order of keys, length of a list with holes, addresses and names in errors depend on the process: it draws
-- the seed of its hashes from addresses and the clock.
local python_now, steps, pattern_work, library_work = ...
local date, time, difftime, sethook, set_any = os.date, os.time, os.difftime, debug.sethook, debug.setmetatable
local gsub, sub, find, format, size = string.gsub, string.sub, string.find, string.format, string.len
local type, error, try, pack, select = type, error, pcall, table.pack, select
local floor, max = math.floor, math.max
local concat, sort, unpack_ = table.concat, table.sort, table.unpack
local setmetatable_, metatable, rawget, rawset = setmetatable, debug.getmetatable, rawget, rawset
local next_, tostring_, tonumber = next, tostring, tonumber

local work = 0
local function spend(units)  -- counted, for these steps of C are none of the script
    work = work + units
    if work > library_work then error("its calls of library functions took more than " .. library_work .. " steps", 3) end
end
local function span(first, last)  -- how many numbers there are from one to another, as far as they are numbers
    first, last = tonumber(first) or 0, tonumber(last) or 0
    return (last > first) and last - first or 0
end

collectgarbage("stop")  -- all that a script takes counts against its memory, and no weak table forgets by chance

-- ---- no files, no processes, no loading of code, and the time of the event

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
string.dump = nil
print = function() end
for _, name in ipairs({"io", "debug", "package", "load", "loadstring", "loadfile", "dofile", "module",
                       "collectgarbage", "python", "coroutine"}) do
    _G[name] = nil
end
setmetatable = function(t, m)  -- finalizers would run without a limit of steps
    if type(m) == "table" and rawget(m, "__gc") ~= nil then error("__gc: a script has no finalizers", 2) end
    return setmetatable_(t, m)
end

-- ---- the order of keys: numbers, then texts by their bytes, then false and true, then one key of another type

local RANK = {number = 1, string = 2, boolean = 3}
local function before(a, b)
    local first, second = RANK[type(a)] or 4, RANK[type(b)] or 4
    if first ~= second then return first < second end
    if first > 2 then return first == 3 and b and not a end
    return a < b
end

local orders = {}
-- By table, the keys that it had when a loop over it began, and the place of each.

local function ordered(t)
    -- It takes the same steps in whatever order Lua has the keys.
    local numbers, texts, places, number, text, other, no, yes, rest = {}, {}, {}, 0, 0, 0, nil, nil, nil
    for key in next_, t do
        local kind = type(key)
        if kind == "string" then
            text = text + 1
            texts[text] = key
        elseif kind == "number" then
            number = number + 1
            numbers[number] = key
        elseif key == false then no = true
        elseif key == true then yes = true
        else
            other = other + 1
            rest = key
        end
    end
    if other > 1 then error("pairs: keys that are tables or functions have no order; keep them in a list") end
    sort(texts)
    local keys, count = texts, text
    if number > 0 then
        sort(numbers)
        for place = 1, text do numbers[number + place] = texts[place] end
        keys, count = numbers, number + text
    end
    if no then
        count = count + 1
        keys[count] = false
    end
    if yes then
        count = count + 1
        keys[count] = true
    end
    if other > 0 then keys[count + 1] = rest end
    for place = 1, #keys do places[keys[place]] = place end
    local found = {keys, places}
    orders[t] = found
    return found
end

local function place_after(keys, key)  -- of a key that has been removed meanwhile
    for place = 1, #keys do
        if before(key, keys[place]) then return place end
    end
    return #keys + 1
end

next = function(t, key)
    if type(t) ~= "table" then error("bad argument #1 to 'next' (table expected, got " .. type(t) .. ")", 2) end
    local order, place = orders[t], 1
    if key == nil then
        if next_(t) == nil then return nil end
        order = ordered(t)
    else
        if order == nil or order[2][key] == nil then order = ordered(t) end
        place = order[2][key]
        place = (place == nil) and place_after(order[1], key) or place + 1
    end
    local keys = order[1]
    for at = place, #keys do
        local found = keys[at]
        local value = rawget(t, found)
        if value ~= nil then return found, value end
    end
    return nil
end
local next = next
pairs = function(t)
    local found = metatable(t)
    local own = found and rawget(found, "__pairs")
    if own then
        local step, state, first = own(t)
        return step, state, first
    end
    if type(t) ~= "table" then error("bad argument #1 to 'pairs' (table expected, got " .. type(t) .. ")", 2) end
    return next, t, nil
end

-- ---- the length of a list, which in Lua depends on the history of the table if the list has holes

local function border(t)  -- a number n with a value at n and none at n + 1, by the values alone
    if rawget(t, 8) == nil then
        for n = 7, 1, -1 do
            if rawget(t, n) ~= nil then return n end
        end
        return 0
    end
    local low, high = 8, 16
    while rawget(t, high) ~= nil do low, high = high, high * 2 end
    while high - low > 1 do
        local middle = floor((low + high) / 2)
        if rawget(t, middle) ~= nil then low = middle else high = middle end
    end
    return low
end
local function length(value)
    local kind = type(value)
    if kind == "string" then return size(value) end
    local found = metatable(value)
    local own = found and rawget(found, "__len")
    if own then return (own(value)) end
    if kind ~= "table" then error("attempt to get length of a " .. kind .. " value", 3) end
    return border(value)
end
set_any(true, {__metatable = false, __pow = function(_, value)
    local found = length(value)
    return found
end})
-- `lua.py` writes `true^` for the operator `#`: both bind alike.

local function placed(name, ok, found, ...)  -- the outcome of a function in C; its error names the line of the script
    if ok then return found, ... end
    error(gsub(found, "^(bad argument #%d+) to '[^']*'", "%1 to '" .. name .. "'"), 2)
end
local function list(t, name)
    if type(t) ~= "table" then
        error("bad argument #1 to '" .. name .. "' (table expected, got " .. type(t) .. ")", 3)
    end
    return length(t)
end
rawlen = function(value)
    if type(value) == "string" then return size(value) end
    if type(value) ~= "table" then error("rawlen: table or string expected", 2) end
    return border(value)
end
table.insert = function(t, ...)
    local count, place, value = list(t, "insert"), ...
    if select("#", ...) == 1 then return rawset(t, count + 1, place) and nil end
    if select("#", ...) ~= 2 then error("wrong number of arguments to 'insert'", 2) end
    if type(place) ~= "number" or place < 1 or place > count + 1 or place % 1 ~= 0 then
        error("bad argument #2 to 'insert' (position out of bounds)", 2)
    end
    for n = count + 1, place + 1, -1 do rawset(t, n, rawget(t, n - 1)) end
    rawset(t, place, value)
end
table.remove = function(t, place)
    local count = list(t, "remove")
    place = place or count
    if type(place) ~= "number" or (place ~= count and (place < 1 or place > count + 1)) or place % 1 ~= 0 then
        error("bad argument #2 to 'remove' (position out of bounds)", 2)
    end
    local taken = rawget(t, place)
    for n = place, count - 1 do rawset(t, n, rawget(t, n + 1)) end
    if place <= count then rawset(t, count, nil) else rawset(t, place, nil) end
    return taken
end
table.concat = function(t, between, first, last)
    local count = list(t, "concat")
    spend(2 * span(first or 1, last or count))
    return placed("concat", try(concat, t, between, first or 1, last or count))
end
table.unpack = function(t, first, last)
    last = last or list(t, "unpack")
    spend(4 * span(first or 1, last))
    return placed("unpack", try(unpack_, t, first or 1, last))
end
table.sort = function(t, before_)
    local count, values, bytes = list(t, "sort"), {}, 0
    for n = 1, count do
        local value = rawget(t, n)
        if value == nil then error("table.sort: the list has no value at " .. n, 2) end
        values[n] = value
        if type(value) == "string" then bytes = bytes + size(value) end
    end
    spend(8 * bytes)
    sort(values, before_)
    for n = 1, count do rawset(t, n, values[n]) end
end
unpack = table.unpack
table.getn = function(t) return list(t, "getn") end
table.maxn = function(t)
    local most = 0
    for key in next_, t do if type(key) == "number" then most = max(most, key) end end
    return most
end

-- ---- texts without addresses

local ADDRESSED = {table = true, ["function"] = true, userdata = true, thread = true}
tostring = function(value)
    local kind = type(value)
    if not ADDRESSED[kind] then return tostring_(value) end
    local found = metatable(value)
    local own = found and rawget(found, "__tostring")
    if own then return (own(value)) end
    return kind
end
local tostring = tostring
string.format = function(form, ...)
    local values = pack(...)
    for n = 1, values.n do
        if ADDRESSED[type(values[n])] then values[n] = tostring(values[n]) end
    end
    return placed("format", try(format, form, unpack_(values, 1, values.n)))
end

-- ---- chance: the same numbers in each run

local drawn = 1
math.randomseed = function(seed)
    drawn = floor((tonumber(seed) or 0) % 2147483646) + 1
    if drawn ~= drawn then drawn = 1 end
end
math.random = function(low, high)
    drawn = drawn * 16807 % 2147483647
    local part = (drawn - 1) / 2147483646
    if low == nil then return part end
    if high == nil then low, high = 1, low end
    if low > high then error("bad argument to 'random' (interval is empty)", 2) end
    return floor(part * (high - low + 1)) + low
end
math.pow = math.pow or function(a, b) return a ^ b end
math.mod = math.mod or function(a, b) return math.fmod(a, b) end

-- ---- limits: the work of patterns and repeats, and the steps of the script

local rep, byte = string.rep, string.byte
string.rep = function(text, times, between)
    spend(span(0, times))
    return placed("rep", try(rep, text, times, between))
end
string.byte = function(text, first, last)
    if last ~= nil and type(text) == "string" then spend(4 * size(text)) end
    return placed("byte", try(byte, text, first, last))
end

string.gfind = string.gfind or string.gmatch
local function bounded(name, search)
    return function(text, pattern, more, plain)
        local is_plain = name == "find" and plain
        if type(text) == "string" then spend(is_plain and size(text) / 32 or size(text)) end
        if type(text) == "string" and type(pattern) == "string" and not is_plain then
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
local ENDS = {"stack overflow", "error in error handling", "not enough memory"}
local function tried(ok, problem, ...)
    -- Nobody goes on at the end of the stack, where the hook below cannot be called, nor without memory.
    if not ok and type(problem) == "string" then
        for n = 1, 3 do
            if find(problem, ENDS[n], 1, true) then error(problem, 0) end
        end
        problem = gsub(gsub(problem, "^prelude:%d+: ", ""), "^(bad argument #%d+) to '[^']*'", "%1")
        -- A function in C that no line of the script called has one of its names, by chance.
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

-- What lj-parse-memprof says of heap dumps whose contents are known: who keeps
-- most, where it is, and what it consists of.
--
--   luajit heap_says.lua compact on|off DIRECTORY PARSER

local H = require("harness")
local decode = require("decode")

local parser = arg[4]
local path = H.path(".ljd")

local function line()
  return debug.getinfo(2, "l").currentline
end

-- What the parser prints of the heap as it is, with these arguments.
local function report(...)
  collectgarbage()
  assert(misc.memprof.dump(path))
  local p = assert(io.popen(("%s 2> %s; echo \"status $?\""):format(
    H.command(parser, path, ...), H.quote(path .. ".err"))))
  local out = p:read("*a")
  p:close()
  H.eq(decode.slurp(path .. ".err"), "", "the parser's warnings")
  H.eq(out:match("status (%d+)\n$"), "0", "the parser's exit status")
  os.remove(path)
  os.remove(path .. ".err")
  return out
end

-- The first suspect must be as the Lua pattern. Returns it.
local function suspected(pattern)
  local out = report()
  local said = out:match("\nLEAK SUSPECTS, of [%d.]+MiB in use\n([^\n]+)\n") or out
  H.ok(said:find(pattern), "the suspect is\n    %s\n  not\n    %s", said, pattern)
  return said
end

local function here(at)
  return "heap_says%.lua:" .. at
end

-- Heaps are built by functions: what is left of them must not be on the stack.

-- A closure's upvalue: a list of lists of records. Returns its line.
local function remember()
  local history = {}
  for i = 1, 20 do
    history[i] = {}
    for j = 1, 1000 do history[i][j] = {time = j, lines = {j, j}} end
  end
  local at = line() + 1
  function _G.heap_remember()
    return history
  end
  return at
end

local function row(tree, pattern)
  H.ok(tree:find("  " .. pattern .. "\n"), "no row %s in\n%s", pattern, tree)
end

-- Objects that look alike are one row, also if each is large enough for its own.
H.case("tree", function()
  remember()
  local tree = report("--view=tree")
  row(tree, "  %.heap_remember  function .*heap_says%.lua:%d+")
  row(tree, "20 x table, list of tables")
  row(tree, "20000 x table {lines, time}")
  _G.heap_remember = nil
end)

-- What two roots refer to is kept by neither.
H.case("shared", function()
  local registry = debug.getregistry()
  registry.heap_shared = {}
  for i = 1, 10 do
    local item = {both = {}}
    for j = 1, 2000 do item.both[j] = {j} end
    registry.heap_shared[i] = item
    _G["heap_other" .. i] = item
  end
  row(report("--view=tree", "--min=20%"),
      "10 x table {both}, such as _G%.heap_other%d+, " ..
      "kept by _G and registry%.heap_shared together")
  registry.heap_shared = nil
  for i = 1, 10 do _G["heap_other" .. i] = nil end
end)

-- Objects that a list and an index have. Returns the line of who has the list.
local function spawn()
  local units, at = {}, line()
  function _G.heap_each()
    return units
  end
  _G.heap_by_name = {}
  for i = 1, 6000 do
    local unit = {name = "unit-" .. i, hp = 100, way = {}}
    for k = 1, 20 do unit.way[k] = i * k end
    units[i] = unit
    _G.heap_by_name[unit.name] = unit
  end
  return at + 1
end

local together = "together: 6000 x table {hp, name, way}; dropping one frees " ..
                 "([%d.]+)%% or ([%d.]+)%%, both ([%d.]+)%%$"

-- The index alone keeps more than the list: names of strings, and a hash part.
local function dropped(said)
  local one, other, both = said:match(together)
  one, other, both = tonumber(one), tonumber(other), tonumber(both)
  H.ok(one > other and one < 10 and both > 90, "figures of\n    %s", said)
end

H.case("together", function()
  local at = coroutine.wrap(spawn)() -- No list is left on this stack.
  dropped(suspected("kept by _G%.heap_by_name and _G%.heap_each:units %(in .*" .. here(at) ..
                    "%) " .. together))
  debug.getregistry().heap_each, _G.heap_each = _G.heap_each, nil
  dropped(suspected("kept by _G%.heap_by_name and registry%.heap_each:units %(in .*" ..
                    here(at) .. "%) " .. together))
  debug.getregistry().heap_each, _G.heap_by_name = nil, nil
end)

-- One object that two hold: its content is what a path leads to, but it goes
-- only without both.
local function hold()
  local big = {}
  for i = 1, 20000 do big[i] = {i} end
  _G.heap_app, _G.heap_other = {cache = big}, {{copy = big}}
end

H.case("held", function()
  coroutine.wrap(hold)()
  suspected("kept by _G%.heap_app%.cache, a table, list of tables: 20000 x table of plain " ..
            "values keep [%d.]+MiB; held by _G%.heap_other%[1%] and _G%.heap_app together$")
  local ways = report("--path=_G.heap_app.cache", "--all")
  H.ok(ways:find(", 1: 1 by [^\n]* and "), "owners of one object in\n%s", ways)
  for _, way in ipairs({"%.heap_app  table {cache}\n[^\n]*%.cache  table, list of tables",
                        "%[1%]  table {copy}\n[^\n]*%.copy  table, list of tables"}) do
    H.ok(ways:find(way), "no way like %s in\n%s", way, ways)
  end
  _G.heap_app, _G.heap_other = nil, nil
end)

-- Caches with weak keys. Values of one refer to their keys, and those of two to
-- each other's; of ten keys the program has one. Strings are never removed.
local function remember_images()
  local function cache(mode)
    return setmetatable({}, {__mode = mode})
  end
  local own, first, second, both = cache("k"), cache("k"), cache("k"), cache("kv")
  for i = 1, 2000 do
    local image, other = {heap_width = i}, {heap_width = -i}
    own[image] = {of = image, pixels = {i, i, i}}
    first[image], second[other] = {of = other}, {of = image}
    both[other], own["name " .. i] = image, {i}
    if i % 10 == 0 then _G.heap_used[i] = image end
  end
  _G.heap_images = {own = own, first = first, second = second, both = both}
end

-- The row of a table in CSV, by the names of columns.
local function weak_row(csv, name)
  local head, row = {}, {}
  for key in csv:match("[^\n]+"):gmatch("[^,]+") do head[#head + 1] = key end
  local line = csv:match("\n([^\n]*,_G%.heap_images%." .. name .. ")\n")
  H.ok(line, "no row of %s in\n%s", name, csv)
  for field in line:gmatch("[^,]+") do row[head[#row + 1]], row[#row + 1] = field, field end
  return row
end

-- Bytes that are free when those values are gone whose key is not in use.
local function without_values()
  for _ = 1, 30 do collectgarbage() end -- Each halves the VM's buffer.
  local before = collectgarbage("count")
  for _, name in ipairs({"own", "first", "second"}) do
    local t = _G.heap_images[name]
    for key in pairs(t) do
      if type(key) == "table" and key.heap_width % 10 ~= 0 then t[key] = true end
    end
  end
  collectgarbage()
  collectgarbage()
  return (before - collectgarbage("count")) * 1024
end
jit.off(without_values)

H.case("weak keys", function()
  _G.heap_used = {}
  coroutine.wrap(remember_images)()
  collectgarbage()
  local out = report()
  H.ok(out:find("\n  5400 of 6000 keys of _G%.heap_images%.first and 2 more tables with weak " ..
                "keys are kept only by values of such tables; with ephemerons, which LuaJIT " ..
                "does not have, [%d.]+%% %([%d.]+[KM]iB%) would be free\n"),
       "no such sentence in\n%s", out)
  local csv = report("--view=weak", "--min=0", "--format=csv")
  local want = {own = {4000, 2000, 1800, "keys"}, first = {2000, 2000, 1800, "keys"},
                second = {2000, 2000, 1800, "keys"}, both = {2000, 2000, 1800, "both"}}
  for name, row in pairs(want) do
    local got = weak_row(csv, name)
    H.eq(("%s %s %s %s %s"):format(got.entries, got.weak, got.held, got["by-values"], got.mode),
         ("%d %d %d %d %s"):format(row[1], row[2], row[2], row[3], row[4]), name)
  end
  H.eq(tonumber(csv:match("\n(%d+),[^\n]*,total\n")), without_values(), "bytes that are free")
  _G.heap_images, _G.heap_used = nil, nil
end)

-- Each object has a metatable of its own: kinds of these count.
local function own_metatables()
  local objects, metas = {}, {}
  for i = 1, 300 do
    metas[i] = {__index = function() return i end}
    objects[3 * i] = setmetatable({heap_x = i, heap_y = i}, metas[i])
    objects[3 * i + 1] = setmetatable({[i] = i}, {__name = "HeapAccount"})
    objects[3 * i + 2] = setmetatable({}, {__index = {i}, __newindex = function() return i end})
    objects[-i] = newproxy(true)
    getmetatable(objects[-i]).heap_tag = i
  end
  _G.heap_objects, _G.heap_metas = objects, metas
end

H.case("metatables of their own", function()
  own_metatables()
  local shapes = report("--view=shapes", "--min=0")
  for _, name in ipairs({"table {heap_x, heap_y}", "table HeapAccount", "table {heap_tag}",
                         "table, empty, with metatable {__index, __newindex}", "userdata"}) do
    H.ok(shapes:find(" 300 [^\n]*  " .. name .. "\n"), "300 x %s in\n%s", name, shapes)
  end
  _G.heap_objects, _G.heap_metas = nil, nil
end)

-- Functions are named by their definition, wherever they are held: the field of
-- a library says nothing. Returns the lines.
local function subscribe(bus)
  local at, api = {}, {}
  local function later(fn) bus[#bus + 1] = {f = fn} end
  for i = 1, 50 do
    at.on_close = line() + 1
    local function on_close() return i end
    at.anonymous = line() + 1
    later(function() return i + 1 end)
    at["api.retry"] = line() + 1
    function api.retry() return i + 2 end
    bus[#bus + 1] = {callback = on_close}
    bus[#bus + 1] = {f = api.retry}
  end
  return at
end

H.case("names of functions", function()
  _G.heap_bus = {}
  local at = subscribe(_G.heap_bus)
  local shapes = report("--view=shapes", "--min=0")
  for name, number in pairs(at) do
    name = name == "anonymous" and "" or name .. " "
    H.ok(shapes:find(" 50 [^\n]*  function " .. name .. "[^ \n]*" .. here(number) .. "\n"),
         "50 x function %s:%d in\n%s", name, number, shapes)
  end
  _G.heap_bus = nil
end)

-- Large entries of a list are told with it, each global by itself.
local function pick()
  local pickers = {}
  for i = 1, 5 do
    local entries = {}
    for k = 1, 2000 + i do entries[k] = {index = k, text = "entry " .. k} end
    pickers[i] = {entries = entries, prompt = "picker " .. i}
  end
  return pickers
end

H.case("entries", function()
  _G.heap_pickers = pick()
  suspected("kept by _G%.heap_pickers, a table, list of tables: 5 x table {entries, prompt} " ..
            "keep [%d.]+[KM]iB %(median [%d.]+KiB, largest [%d.]+KiB%)$")
  for i, picker in ipairs(_G.heap_pickers) do _G["heap_picker" .. i] = picker.entries end
  _G.heap_pickers = nil
  suspected("kept by _G%.heap_picker%d, a table, list of tables: 200%d x table {index, text} ")
  for i = 1, 5 do _G["heap_picker" .. i] = nil end
end)

-- Cdata with finalizers stand for memory that is not in a dump.
local function allocate()
  local ffi = require("ffi")
  ffi.cdef("void *malloc(size_t); void free(void *);")
  local function release(p) ffi.C.free(p) end
  _G.heap_frames = {}
  for i = 1, 600 do
    local p = ffi.cast("uint8_t *", ffi.C.malloc(8))
    _G.heap_frames[i] = ffi.gc(p, i > 100 and ffi.C.free or release)
  end
end

H.case("finalizers", function()
  if not H.has_ffi then return end
  allocate()
  local out = report("--top=1000", "--min=0")
  H.ok(out:find("\n  500 x cdata uint8_t %*, finalizer free; 100 x cdata uint8_t %*, finalizer " ..
                "function release [^;\n]*heap_says%.lua:%d+: memory of C that finalizers free " ..
                "is not in a dump\n"), "no such finalizers in\n%s", out)
  H.ok(out:find(" 500 [^\n]*  cdata uint8_t %*, finalizer free\n"), "no such shape in\n%s", out)
  _G.heap_frames = nil
end)

-- Code that defined functions is gone: they have the names by which functions
-- of their chunk, and programs, find them.
local module = [[
local M, class = {}, {}
class.__index = class
local function on_end() return 3 end
local function lonely() return 4 end
local own = {helper = function() return 5 end}
function M.decode() return own, on_end end
function class:method() return 7 end
for i = 1, 3 do heap_bus[i] = {callback = on_end, f = lonely, g = own.helper} end
heap_bus.callback = M.decode
M.object = setmetatable({}, class)
return M]]

H.case("names of functions of a module", function()
  _G.heap_bus = {}
  package.loaded.heap_module = assert(loadstring(module, "=heap_module.lua"))()
  local shapes = report("--view=shapes", "--min=0")
  for number, name in pairs({[3] = "on_end ", [4] = "", [5] = "helper ", [6] = "decode ",
                             [7] = "method "}) do
    H.ok(shapes:find("  function " .. name .. "heap_module%.lua:" .. number .. "\n"),
         "function %s:%d in\n%s", name, number, shapes)
  end
  _G.heap_bus, package.loaded.heap_module = nil, nil
end)

-- What a running function has is the same object, wherever that function is.
local function receiver()
  local queue = {}
  return function(step)
    for i = 1, 1000 do queue[#queue + 1] = {id = i} end
    step()
    for i = 1, 9000 do queue[#queue + 1] = {id = i} end
    local out = step()
    return out
  end
end

H.case("an upvalue of a running function", function()
  local base, there = path .. ".base", false
  local said = receiver()(function()
    if there then return report("--diff=" .. base) end
    collectgarbage()
    there = assert(misc.memprof.dump(base))
  end)
  H.ok(said:find("is kept by main thread<function [^\n]*:queue, a table, list of tables: it " ..
                 "kept [%d.]+KiB, and keeps [%d.]+MiB; it held 1000 objects, and holds 10000\n"),
       "no such queue in\n%s", said)
  os.remove(base)
end)

-- A list and an index: each record is in both.
H.case("ladder of an index", function()
  local names, list = {}, {}
  _G.heap_index = {}
  for step = 1, 3 do
    for i = 1, 1000 do
      local record = {id = i, text = {i}}
      list[#list + 1] = record
      _G.heap_index["r" .. #list] = record
    end
    collectgarbage()
    names[step] = path .. "." .. step
    assert(misc.memprof.dump(names[step]))
  end
  local p = assert(io.popen(H.command(parser, "--growth", unpack(names))))
  local out = p:read("*a")
  p:close()
  local line = out:match("\n  Grew at each step:\n([^\n]*)\n")
  H.ok(line and line:find("_G.heap_index", 1, true) and line:find("list", 1, true) and
       line:find(" together, mostly table {id, text}: ", 1, true), "holders:\n%s", out)
  for _, name in ipairs(names) do os.remove(name) end
  _G.heap_index = nil
end)

-- A ladder of dumps: what grows, what has stopped, what came and went.
H.case("ladder", function()
  local function grow(t, n)
    for i = 1, n do t[#t + 1] = {id = i, text = {i}} end
  end
  local names = {}
  _G.heap_queue, _G.heap_cache = {}, {}
  for step = 1, 6 do
    grow(_G.heap_queue, 1000)
    if step < 4 then grow(_G.heap_cache, 500) end
    _G.heap_batch = nil
    if step == 3 then
      _G.heap_batch = {}
      grow(_G.heap_batch, 1500)
    end
    collectgarbage()
    names[step] = path .. "." .. step
    assert(misc.memprof.dump(names[step]))
  end
  local p = assert(io.popen(H.command(parser, "--growth", "--limit=growth@_G.heap_queue<=100KB",
    "--limit=growth@_G.heap_cache<=0", unpack(names)) .. " 2>&1; echo \"status $?\""))
  local out = p:read("*a")
  p:close()
  local sizes = ("[%d.?]+[KM]?i?B, "):rep(5) .. "[%d.]+[KM]?i?B"
  for _, line in ipairs({
    "GROWTH, 6 heap dumps in [%d.]+ s\n  In use: " .. sizes .. "; [%d.]+KiB a dump, [^\n]* a second\n",
    "\n  Grew at each step:\n    _G%.heap_queue, a table, list of tables: " .. sizes ..
      "; [%d.]+KiB a dump, [^\n]* a second\n",
    "\n  Grew, but not in the last two steps:\n    _G%.heap_cache, a table, list of tables: " .. sizes .. "\n",
    "\n  Came and went:\n    _G%.heap_batch, a table, list of tables: 0B, 0B, [%d.]+KiB, %?, %?, 0B\n",
    "limit growth@_G%.heap_queue<=100KB exceeded: %d+ bytes, %d+ too many: %d+ in [^\n]*%.5, %d+ in [^\n]*%.6\n",
    "status 3\n$",
  }) do
    H.ok(out:find(line), "no line %s in\n%s", line, out)
  end
  H.ok(not out:find("limit growth@_G.heap_cache", 1, true), "a limit that is kept in\n%s", out)
  for _, name in ipairs(names) do os.remove(name) end
  _G.heap_queue, _G.heap_cache, _G.heap_batch = nil, nil, nil
end)

H.case("upvalue", function()
  suspected("kept by _G%.heap_remember:history %(in .*" .. here(remember()) .. "%), a table, " ..
            "list of tables: 20 x table, list of tables keep [%d.]+MiB, " ..
            "with 20000 x table {lines, time}$")
  _G.heap_remember = nil
end)

-- Coroutines that have not begun, each with a closure and what it keeps, below
-- a key that is an address. Returns the closures' line.
local function start_timers(key)
  local timers, at = {}, nil
  for i = 1, 5000 do
    local session = {user = i, basket = {i, i, i}}
    at = line() + 1
    timers[i] = coroutine.create(function()
      return session
    end)
  end
  _G.heap_timers = {[key] = timers, [true] = {[0.5] = {"a table"}}}
  return at
end

H.case("timers", function()
  local key = debug.upvalueid(report, 1)
  local name = tostring(key):gsub("0x0*", "0x")
  suspected("kept by _G%.heap_timers%[" .. name .. "%], a table, list of threads: " ..
            "5000 x thread .*" .. here(start_timers(key)) .. " keep [%d.]+MiB, with 5000 x ")
  local address = ("%p"):format(_G.heap_timers[true][0.5])
  local way = report("--path=" .. address)
  H.ok(way:find("%[true%] .*%[0%.5%]  table, list of strings"), "no such keys in\n%s", way)
  _G.heap_timers = nil
end)

-- A local of a coroutine that waits. Returns the line of its function.
local function start_waiting()
  local at = line() + 1
  local function wait()
    local pending = {}
    for i = 1, 20000 do pending[i] = {id = i} end
    coroutine.yield()
    return pending
  end
  _G.heap_waits = coroutine.create(wait)
  assert(coroutine.resume(_G.heap_waits))
  return at
end

H.case("local", function()
  suspected("kept by _G%.heap_waits<local pending> %(in .*" .. here(start_waiting()) ..
            "%), a table, list of tables: 20000 x table {id} keep ")
  _G.heap_waits = nil
end)

-- A list is one suspect and one row, not one for each of its links. The last
-- link has no field `next` and looks otherwise.
H.case("list", function()
  for i = 1, 20001 do _G.heap_list = {next = _G.heap_list, number = i} end
  suspected("kept by _G%.heap_list, a table {next, number}: a chain of 20000 such objects$")
  local rows, n = report("--view=retained", "--min=0", "--top=100"), 0
  for text in rows:gmatch("[^\n]+") do
    if text:find("table {next, number}", 1, true) then n = n + 1 end
  end
  H.eq(n, 1, "rows of a list")
  H.ok(not rows:find(" upvalue ", 1, true), "an upvalue and what it holds")
  local tree = report("--view=tree")
  H.ok(tree:find(" 20000    %.heap_list  20000 x table {next, number}\n"),
       "no row of the list in\n%s", tree)
  _G.heap_list = nil
end)

-- Memory of C is not Lua's.
H.case("memory of C", function()
  if not H.has_ffi or H.emulator ~= "" then return end
  local ffi = require("ffi")
  ffi.cdef "void *malloc(size_t); void free(void *); void *memset(void *, int, size_t);"
  local size = 64 * 2 ^ 20
  local p = ffi.C.malloc(size)
  ffi.C.memset(p, 1, size)
  local rss, used, garbage, free, code, other = report():match(
    "\n  RSS ([%d.]+)MiB: Lua in use ([%d.]+%a+), garbage ([%d.]+%a+), " ..
    "allocator's free ([%d.]+%a+), machine code ([%d.]+%a+), C and others ([%d.]+)MiB")
  ffi.C.free(p)
  if not H.ok(rss, "no RSS") then return end
  H.ok(tonumber(other) > 64 and tonumber(rss) >= tonumber(other), "%s MiB of %s are of C", other, rss)
end)

H.done()

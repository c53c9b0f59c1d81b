-- Code that is loaded after the start, strange chunk names, reused addresses.

local H = require("harness")
local memprof = misc.memprof

-- What a format tells of a chunk name; the RFC tells nothing of late code.
local function told(name)
  if H.format ~= "rfc" then return name:sub(1, 4096) end
end

-- Loads code that allocates a string of size bytes on the line given.
local function source_of(line, size)
  return ("\n"):rep(line - 1) .. ("return ('x'):rep(%d)\n"):format(size):gsub("return (.*)\n",
         "local s = %1 return 1\n")
end

-- What a string takes beside its characters. One of them may be what lets the
-- VM's table of strings grow, but not the next.
local overhead = math.huge
do
  collectgarbage("stop")
  local n = ("x"):rep(5003)
  for c in ("abc"):gmatch(".") do
    local before = H.count()
    n = c:rep(5003)
    overhead = math.min(overhead, H.count() - before - 5003)
  end
  collectgarbage("restart")
end

-- The length of a chunk's string. It makes an object whose size is no multiple
-- of 8, as tables and stacks have it.
local shortest = (5003 + overhead) % 8 == 0 and 5007 or 5003
local function length(i) return shortest + 8 * i end

-- The events by the length of their strings.
local function by_length(s)
  local found = {}
  for _, e in ipairs(s.events) do
    if e.kind == "alloc" then
      local n = e.nsize - overhead
      found[n] = found[n] or {}
      table.insert(found[n], e)
    end
  end
  return found
end

local function check_site(e, chunk, line, what)
  H.eq(e.site.source, "lua", "source of %s", what)
  H.eq(e.site.chunk, told(chunk), "chunk of %s", what)
  H.eq(e.site.line, line, "line of %s", what)
  if H.format ~= "rfc" then H.eq(e.site.first, 0, "first line of %s", what) end
end

H.case("1000 chunks after the start", function()
  local s = H.record(function()
    for i = 1, 1000 do
      local fn = loadstring(source_of(i % 7 + 1, length(i)), "@late" .. i .. ".lua")
      H.off(fn)
      fn()
    end
  end)
  local found = by_length(s)
  for i = 1, 1000 do
    local list = found[length(i)] or {}
    H.eq(#list, 1, "strings of chunk %d", i)
    if list[1] then check_site(list[1], "@late" .. i .. ".lua", i % 7 + 1, "chunk " .. i) end
  end
end)

-- The address of a proto that is gone is given to the next one. Each event
-- has to name its own chunk.
H.case("load, run, drop, collect", function()
  local s = H.record(function()
    for i = 1, 1000 do
      local fn = loadstring(source_of(i % 3 + 1, length(i)), "=reuse" .. i)
      H.off(fn)
      fn()
      fn = nil
      if i % 4 == 0 then collectgarbage() end
    end
  end)
  local found, addresses, reused = by_length(s), {}, 0
  for i = 1, 1000 do
    local list = found[length(i)] or {}
    H.eq(#list, 1, "strings of chunk %d", i)
    if list[1] then
      local addr = list[1].site.addr
      if addresses[addr] then reused = reused + 1 end
      addresses[addr] = true
      check_site(list[1], "=reuse" .. i, i % 3 + 1, "chunk " .. i)
    end
  end
  H.ok(reused > 100, "only %d addresses were used again", reused)
end)

-- The same with functions that were there before the start.
if H.format ~= "rfc" then
  H.case("addresses of code that is older than the recording", function()
    local fns = {}
    for i = 1, 200 do
      fns[i] = loadstring(source_of(1, length(i)), "=old" .. i)
      H.off(fns[i])
    end
    local s = H.record(function()
      for i = 1, 200 do
        fns[i]()
        fns[i] = nil
      end
      collectgarbage() collectgarbage()
      for i = 201, 400 do
        local fn = loadstring(source_of(2, length(i)), "=new" .. i)
        H.off(fn)
        fn()
      end
    end)
    local found = by_length(s)
    for i = 1, 400 do
      local list = found[length(i)] or {}
      H.eq(#list, 1, "strings of chunk %d", i)
      if list[1] then
        check_site(list[1], (i <= 200 and "=old" or "=new") .. i, i <= 200 and 1 or 2, "chunk " .. i)
      end
    end
  end)
end

H.case("strange chunk names", function()
  local names = {
    "@new\nline.lua", "=" .. ("long"):rep(2500), "@" .. ("/path"):rep(2000),
    "return 'source as a name'", "", "=", "@", "=\255\254\1\27[31m", "@tab\tquote\"back\\slash",
    "first line\nsecond line", "@" .. ("y"):rep(4095), "@" .. ("z"):rep(4096),
  }
  for when = 1, 2 do -- Loaded after the start, and before it.
    local fns = {}
    local function load_all()
      for i, name in ipairs(names) do
        fns[i] = loadstring(source_of(2, length(i)), name)
        H.off(fns[i])
      end
    end
    local function run_all()
      for i = 1, #names do fns[i]() end
    end
    if when == 2 then load_all() end
    local s = H.record(function()
      if when == 1 then load_all() end
      run_all()
    end)
    local found = by_length(s)
    for i, name in ipairs(names) do
      local list = found[length(i)] or {}
      H.eq(#list, 1, "strings of chunk %d", i)
      if list[1] then
        local chunk = list[1].site.chunk
        local expected = name:sub(1, 4096)
        if when == 1 and H.format == "rfc" then expected = nil end
        H.eq(chunk, expected, "name %d", i)
        H.eq(list[1].site.line, 2, "line of name %d", i)
        if H.compact then
          H.eq(list[1].site.func.cut, #name > 4096, "cut mark of name %d", i)
        end
      end
    end
  end
end)

-- Only bytecode can have such a name: Lua's own functions end it there.
H.case("a chunk name with a NUL", function()
  local fn = loadstring(source_of(2, length(0)), "@nul_inside.lua")
  local code = string.dump(fn):gsub("nul_inside", "nul\0inside")
  local s = H.record(function() H.off(loadstring(code))() end)
  check_site(by_length(s)[length(0)][1], "@nul\0inside.lua", 2, "the chunk")
end)

H.case("stripped bytecode", function()
  local full = assert(loadstring([[
local n = ...
local function inner(n)
  local s = ("s"):rep(n)
  return 1
end
inner(n)
local s = ("t"):rep(n + 4)
return 1
]], "@stripped.lua"))
  local code = string.dump(full, true)
  local s = H.record(function()
    local fn = H.off(loadstring(code, "=given"))
    fn(7003)
    local debugged = H.off(loadstring(string.dump(full), "=given too"))
    debugged(8003)
  end)
  local found = by_length(s)
  for _, n in ipairs({ 7003, 7007, 8003, 8007 }) do
    H.eq(#(found[n] or {}), 1, "strings of length %d", n)
  end
  if found[7003] and found[7007] then
    local inner, main = found[7003][1].site, found[7007][1].site
    H.eq(inner.line, 0, "line without line information")
    H.eq(main.line, 0, "line without line information")
    if H.compact then
      H.eq(inner.func.stripped and main.func.stripped, true, "mark of stripped code")
      H.ok(inner.func.hash ~= main.func.hash, "two functions have the same hash")
      H.eq(found[8003][1].site.func.stripped, false, "mark of code with lines")
    end
    H.eq(found[8003][1].site.line, 3, "line of dumped code")
    if H.format ~= "rfc" then
      H.eq(found[8003][1].site.chunk, "@stripped.lua", "chunk of dumped code")
      H.eq(found[8003][1].site.first, 2, "function of dumped code")
    end
  end
end)

-- The hash of a function is the same in another VM, and after compilation.
if H.compact then
  H.case("hashes stay the same", function()
    local text = "local n = 0 for i = 1, ... do n = n + #tostring(i) end " ..
                 "for k, v in pairs({1,2}) do n = n + v end local t = { n } return n"
    local hashes = {}
    for i, runs in ipairs({ 1, 1000 }) do
      local s = H.record(function()
        local fn = loadstring(text, "@hash" .. i)
        fn(runs)
        fn(1)
      end)
      for _, f in pairs(s.funcs) do
        if f.chunk == "@hash" .. i then hashes[i] = f.hash end
      end
      local again = H.record(function()
        local fn = loadstring(text, "@hash" .. i)
        fn(1000)
        fn(1)
      end)
      for _, f in pairs(again.funcs) do
        if f.chunk == "@hash" .. i then H.eq(f.hash, hashes[i], "hash") end
      end
    end
    H.ok(hashes[1] and hashes[1] ~= 0, "no hash")
    H.eq(hashes[1], hashes[2], "hash of compiled code")
  end)
end

-- Instructions that the compiler changes do not count: returns where it found a
-- recursion, sizes of tables that it saw grow.
if H.compact then
  local text = "local function down(n, make)\n" ..
               "  local t\n" ..
               "  if n < 2 then\n" ..
               "    if make then t = {} for i = 1, 40 do t[i] = n end end\n" ..
               "    return 1\n" ..
               "  end\n" ..
               "  return down(n - 1, make) + down(n - 2, make)\n" ..
               "end\n" ..
               "return down\n"

  local function hash_after(name, runs)
    local down = loadstring(text, "@" .. name)()
    for _ = 1, runs do down(9, true) end
    local hash
    local s = H.record(function()
      for _ = 1, runs do down(9) end
      down(3, true)
    end)
    for _, f in pairs(s.funcs) do
      if f.chunk == "@" .. name and f.first == 1 then hash = f.hash end
    end
    return hash, down
  end

  H.case("what the compiler patches is not in the hash", function()
    local util = require("jit.util")
    local cold, interpreted = hash_after("patched1", 0)
    local hot, compiled = hash_after("patched2", 100)
    H.ok(cold and cold ~= 0, "no hash")
    H.eq(hot, cold, "hash of patched code")
    if H.jit then
      local changed = 0
      for pc = 0, util.funcinfo(compiled).bytecodes - 1 do
        if util.funcbc(compiled, pc) ~= util.funcbc(interpreted, pc) then
          changed = changed + 1
        end
      end
      H.ok(changed > 0, "nothing was patched")
    end
  end)
end

H.case("a very large function, one on line 100,000", function()
  local parts = {}
  for i = 1, 400 do parts[i] = "t[" .. i .. "] = 'k" .. i .. "'" end
  local text = "local t = {}\n" .. table.concat(parts, "\n") .. "\nlocal s = ('x'):rep(6003)\nreturn t"
  local far = source_of(100000, 6503)
  local spread = "local s = ('y'):rep(7003)\n" .. ("\n"):rep(70000) .. "s = ('z'):rep(7503)\nreturn 1"
  local s = H.record(function()
    H.off(loadstring(text, "@large.lua"))()
    H.off(loadstring(far, "@far.lua"))()
    H.off(loadstring(spread, "@spread.lua"))()
  end)
  local found = by_length(s)
  check_site(found[6003][1], "@large.lua", 402, "the large function")
  check_site(found[6503][1], "@far.lua", 100000, "line 100,000")
  check_site(found[7003][1], "@spread.lua", 1, "the first line")
  check_site(found[7503][1], "@spread.lua", 70002, "line 70,002")
end)

H.case("start while the collector frees code", function()
  collectgarbage()
  collectgarbage("stop")
  -- Functions that hold each other and each other's tables, and are garbage.
  for i = 1, 300 do
    loadstring(([[
local M = {}
function M.one_%d() return M end
local function two_%d() return M.one, M end
M.three = function() return two_%d end
return M.three()
]]):format(i, i, i), "@dead " .. i)()
  end
  local mul = collectgarbage("setstepmul", 100)
  local steps, failed = 0, 0
  repeat
    local over = collectgarbage("step", 0)
    steps = steps + 1
    if not memprof.start("/dev/null", {format = H.format}) or not memprof.stop() then
      failed = failed + 1
    end
  until over or steps == 5000
  collectgarbage("setstepmul", mul)
  collectgarbage("restart")
  H.ok(steps > 50, "%d steps", steps)
  H.eq(failed, 0, "recordings that failed")
end)

H.done()

-- Code that is called from C: comparators, callbacks, hooks.

local H = require("harness")
local memprof = misc.memprof

H.case("sort, gsub, gmatch", function()
  H.try([[
for i = 1, 20 do
  local t = { 5, 3, 8, 1, 9, 2, 7 }
  table.sort(t, function(a, b)
    keep[1] = $cdata --x*
    return a < b
  end)
  keep[2] = $array --x20
  local s = ("abc"):gsub(".", function(c)
    keep[1] = $string --x60
    return c
  end)
  keep[2] = $table --x20
  s = ("a=b"):gsub("%w", setmetatable({}, { __index = function(t, k)
    keep[1] = $cdata --x40
    return k
  end }))
  for w in ("one two three"):gmatch("%w+") do
    keep[1] = $cdata --x60
  end
  table.foreach({ 1, 2 }, function(k, v)
    keep[1] = $array --x40
  end)
  s = table.concat({ "a", $string }) --x20
end]])
end)

H.case("callbacks inside callbacks", function()
  H.try([[
local function compare(a, b)
  keep[1] = $cdata --x*
  local s = ("ab"):gsub("b", function(c)
    keep[1] = $array --x*
    local ok = pcall(function()
      keep[1] = $string --x*
      error({})
    end)
    return c
  end)
  keep[1] = $table --x*
  return a < b
end
for i = 1, 5 do
  local t = { 3, 2, 1 }
  table.sort(t, compare)
  coroutine.wrap(function()
    table.sort(t, compare)
    keep[2] = $cdata --x5
  end)()
  keep[2] = $array --x5
end]])
end)

if H.has_ffi then
  H.case("FFI callbacks and qsort", function()
    local ffi = require("ffi")
    ffi.cdef("void qsort(void *, size_t, size_t, int (*)(const int *, const int *));")
    local s = H.try([[
local order = ffi.cast("int (*)(const int *, const int *)", function(a, b)
  keep[1] = $cdata --x*
  return a[0] - b[0]
end)
local numbers = ffi.new("int[4]")
for i = 1, 20 do
  for j = 0, 3 do numbers[j] = (j * 7 + i) % 5 end
  ffi.C.qsort(numbers, 4, 4, order)
  keep[2] = $string --x20
end
order:free()
local add = ffi.cast("int (*)(int, int)", function(a, b)
  keep[1] = $array --x20
  collectgarbage("step")
  keep[1] = $string --x20
  return a + b
end)
for i = 1, 20 do
  local n = add(i, i)
  keep[2] = $cdata --x20
end
add:free()]], { env = { ffi = ffi } })
    H.ok(s.nevents > 0, "no events")
  end)
end

-- Hooks ------------------------------------------------------------------------

H.case("hooks that allocate", function()
  H.try([[
local function hook(event, line)
  keep[1] = $cdata --x*
  keep[2] = $concat --x*
end
local function work()
  local t = {}
  for i = 1, 20 do
    t[i] = i
    keep[3] = $array --x80
  end
  keep[3] = $string --x4
end
for _, mask in ipairs({ "l", "c", "r", "crl" }) do
  debug.sethook(hook, mask)
  work()
  debug.sethook()
  keep[4] = $table --x4
end
debug.sethook(function()
  keep[1] = $cdata --x*
end, "", 10)
local n = 0
for i = 1, 500 do n = n + i end
debug.sethook()
keep[4] = $array]])
end)

H.case("a hook in a coroutine, one that fails", function()
  H.try([[
local co = coroutine.create(function()
  for i = 1, 10 do
    keep[1] = $cdata --x10
    coroutine.yield()
    keep[1] = $array --x10
  end
end)
debug.sethook(co, function(event)
  keep[2] = $string --x*
end, "l")
for i = 1, 11 do coroutine.resume(co) end
local ok = pcall(function()
  debug.sethook(function()
    debug.sethook()
    keep[2] = $cdata
    error({})
  end, "l")
  local x = 1
  x = 2
end)
debug.sethook()
keep[4] = $array]])
end)

-- Start and stop -----------------------------------------------------------------

local function whole(how, where)
  H.case("start and stop " .. how, function()
    local path, live = H.path()
    local result = {}
    local both = H.off(function() -- Compiling it would be in the count, too.
      result.start = memprof.start(path, { format = H.format })
      local keep = {}
      for i = 1, 50 do keep[i] = { i } end
      result.stop = memprof.stop()
      live = H.count()
    end)
    where(both)
    H.eq(result.start, true, "start")
    H.eq(result.stop, true, "stop")
    local s = H.decode_file(path)
    os.remove(path)
    H.check_books(s)
    if s.totals then H.eq(s.totals.live, live, "TOTALS live") end
    H.ok(s.counts.alloc >= 50, "%d allocations", s.counts.alloc)
  end)
end

local function once(fn)
  local called = false
  return function()
    if not called then called = true; fn() end
  end
end

whole("in a coroutine", function(fn) coroutine.wrap(fn)() end)
whole("in a hook", function(fn)
  debug.sethook(function() debug.sethook(); fn() end, "l")
  local x = 1
  debug.sethook()
  return x
end)
whole("in a sort comparator", function(fn)
  fn = once(fn)
  table.sort({ 2, 1 }, function(a, b) fn() return a < b end)
end)
whole("in a metamethod", function(fn)
  local t = setmetatable({}, { __index = function() fn() return 1 end })
  return t.x
end)
if H.has_ffi then
  whole("in an FFI callback", function(fn)
    local ffi = require("ffi")
    local cb = ffi.cast("void (*)(void)", fn)
    cb()
    cb:free()
  end)
end

H.case("start in one coroutine, stop in another", H.off(function()
  local path = H.path()
  local a = coroutine.create(function()
    local ok = memprof.start(path, { format = H.format })
    coroutine.yield(ok)
  end)
  local _, started = coroutine.resume(a)
  H.eq(started, true, "start")
  a = nil
  collectgarbage() collectgarbage()
  H.eq(coroutine.wrap(function() return memprof.stop() end)(), true, "stop")
  local live = H.count()
  local s = H.decode_file(path)
  os.remove(path)
  H.check_books(s)
  if s.totals then H.eq(s.totals.live, live, "TOTALS live") end
end))

-- The CPU profiler of LuaJIT at the same time: its own code must be found.
local has_jit_p, jit_p = pcall(require, "jit.p")
if has_jit_p then
  H.case("jit.p at the same time", function()
    H.record(function()
      jit_p.start("l", H.path(".p"))
      local t0, keep, busy = os.clock(), {}, 0
      while os.clock() - t0 < 0.1 do
        for i = 1, 100 do keep[i] = { tostring(i) } end
        for i = 1, 100000 do busy = busy + i end -- No more events than needed.
      end
      jit_p.stop()
    end)
    os.remove(H.path(".p"))
  end)
end

H.done()

-- Heap dumps from wherever Lua code can run.

local H = require("harness")
local dumping = require("dumping")
local dump = require("dump")
local T, addr = dumping.T, dumping.addr
local memprof = misc.memprof
local path = dumping.path

-- Code that calls d(); true: something may have no owner yet.
local places = {
  ["a coroutine"] = { function(d) coroutine.wrap(d)() end },
  ["a coroutine in another"] = { function(d)
    coroutine.wrap(function()
      local x = {}
      coroutine.wrap(function() d(x) end)()
    end)()
  end },
  ["a finalizer"] = { function(d)
    local done
    getmetatable(newproxy(true)).__gc = function()
      if not done then done = true d() end
    end
    collectgarbage()
    collectgarbage()
  end },
  ["a finalizer, while others wait"] = { function(d)
    local n = 0
    for _ = 1, 5 do
      local u = newproxy(true)
      getmetatable(u).__gc = function()
        n = n + 1
        if n % 2 == 0 then
          d()
        end
      end
    end
    collectgarbage()
    collectgarbage()
  end, check = function(d, i)
    H.ok(i ~= 1 or dump.root(d, "awaits its finalizer"), "what awaits its finalizer")
  end },
  ["a hook of lines"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "l")
    local x = 1
    x = x + 1
  end },
  ["a hook of calls"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "c")
    math.floor(1)
  end },
  ["a hook of returns"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "r")
    math.floor(1)
  end },
  ["a hook of counts"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "", 10)
    for i = 1, 100 do math.floor(i) end
  end },
  ["the reader of load()"] = { function(d)
    local parts = { "local a, b = {}, 'text' .. 1 ", "local function f(x) return x, a, b, 'constant' end ",
      "return f, { 1, 2, x = 3 }" }
    local n = 0
    assert(load(function()
      n = n + 1
      if n > 1 then d() end
      return parts[n]
    end))()
  end, true },
  ["the reader of load(), of bytecode"] = { function(d)
    local code = string.dump(assert(loadstring("local a = {} return function() return a, 'text' end")))
    local n = 0
    assert(load(function()
      n = n + 1
      d()
      return n <= #code and code:sub(n, n) or nil
    end))()
  end, true, once = 7 },
  ["sort"] = { function(d)
    local n = 0
    table.sort({ 3, 1, 2 }, function(a, b)
      n = n + 1
      if n == 2 then d() end
      return a < b
    end)
  end },
  ["gsub"] = { function(d)
    ("abc"):rep(500):gsub("b", function() if d then d() d = nil end return "xx" end)
  end },
  ["pcall and its handler"] = { function(d)
    pcall(d)
    xpcall(function() error({}) end, d)
    xpcall(function() local x = nil; x() end, d)
  end },
  ["an overflow of the stack"] = { function(d)
    local function f(x) local t = { x } return f(t), t end
    xpcall(f, function() if d then d() d = nil end end)
    if d then d() end -- Sometimes there is no room for the handler.
  end },
  ["metamethods"] = { function(d)
    local mt = {}
    local function m() d() return 1 end
    mt.__index, mt.__add, mt.__concat, mt.__eq, mt.__lt, mt.__call, mt.__newindex, mt.__tostring = m, m, m, m, m, m, m,
      function() d() return "x" end
    local t, u = setmetatable({}, mt), setmetatable({}, mt)
    local _ = t.x, t + 1, "a" .. t .. "b", t == u, t < u, t(1, 2)
    t.y = 1
    tostring(t)
  end },
  ["varargs and tail calls"] = { function(d)
    local function tail(...) return d(...) end
    local function v(...) local a = { ... } tail(...) return a end
    v(1, {}, "x", nil, v)
    select("#", v(unpack({ 1, 2, 3 }, 1, 200)))
  end },
  ["an iterator"] = { function(d)
    for k in function(_, i) i = (i or 0) + 1 if i == 1 then d() return i end end do local _ = k end
    for _ in pairs({ a = 1 }) do d() end
  end },
  ["another environment"] = { function(d)
    local env = setmetatable({}, { __index = _G })
    setfenv(function() d() end, env)()
  end },
  ["dofile"] = { function(d)
    local name = H.path(".do.lua")
    local f = assert(io.open(name, "w"))
    f:write("local d = ... \n_DUMP()\n")
    f:close()
    _G._DUMP = d
    dofile(name)
    _G._DUMP = nil
    os.remove(name)
  end },
}

-- Calls run with a function that dumps, and looks at the dumps when it is done.
local function dumps(run, making, once, check)
  local n, counts = 0, {}
  dumping.forget()
  run(H.off(function()
    n = n + 1
    if once and n % once ~= 1 then return end
    counts[#counts + 1] = 0
    counts[#counts] = dumping.write(path .. #counts)
  end))
  H.ok(n > 0, "it was not called")
  for i, count in ipairs(counts) do
    local d = dumping.review(path .. i, count, making)
    if check then check(d, i) end
    os.remove(path .. i)
  end
  dumping.take()
end

for name, place in pairs(places) do
  H.case("a dump in " .. name, function() dumps(place[1], place[2], place.once, place.check) end)
end

if H.has_ffi then
  H.case("a dump in a callback", function()
    local ffi = require("ffi")
    ffi.cdef("void qsort(void *base, size_t n, size_t size, int (*f)(const void *, const void *));")
    local a, f = ffi.new("int[3]", 3, 1, 2), nil
    dumps(function(d)
      function f() if d then d() d = nil end return 0 end
      T.cb = ffi.cast("int (*)(const void *, const void *)", f)
      ffi.C.qsort(a, 3, 4, T.cb)
    end)
    local found
    local d = dumping.take()
    for _, ref in ipairs(dump.root(d, "FFI metatables and callbacks").refs) do
      found = found or ref.to == addr(f)
    end
    H.ok(found, "the callback's function")
    T.cb:free()
  end)

  H.case("a dump in a finalizer of cdata", function()
    local ffi = require("ffi")
    dumps(function(d)
      for _ = 1, 3 do ffi.gc(ffi.new("int[4]"), function() d() end) end
      collectgarbage()
      collectgarbage()
    end, nil, nil, function(d, i)
      H.ok(i == 3 or dump.root(d, "awaits its finalizer").type == "cdata", "what awaits its finalizer")
    end)
  end)
end

if H.jit then
  for _, event in ipairs({ "bc", "trace", "record", "texit" }) do
    H.case("a dump at the JIT compiler's event " .. event, function()
      jit.flush()
      local n, whats = 0, {}
      local function watch(what)
        n = n + 1
        whats[what] = true
        -- A stop has made a trace of what was recorded.
        if n % 7 == 1 or n < 20 then H.eq(memprof.dump(path .. n), true, "dump") end
      end
      jit.attach(watch, event)
      jit.off(watch)
      assert(loadstring([[
local t = {}
for i = 1, 100 do t[i % 10 + 1] = { i, ("x"):rep(i) } end
for i = 1, 100 do local s = i % 3 == 0 and t or t[1] end
for i = 1, 100 do local s = tostring(i) .. "y" end]]))()
      jit.attach(watch)
      H.ok(n > 0, "no event")
      local making = false
      for i = 1, n do
        if i % 7 == 1 or i < 20 then
          H.jit_switch(H.decoder_jit)
          local d = dump.read(path .. i)
          H.jit_switch(H.jit)
          H.eq(dump.faults(d)[1], nil, "event %d", i)
          -- The parser runs at the first one.
          H.ok(event == "bc" or d.sums.making == 0, "%d bytes in the making at event %d", d.sums.making, i)
          local root = dump.root(d, "the trace in the making")
          if root then making = root.type == "proto" end
          os.remove(path .. i)
        end
      end
      if event == "record" then H.ok(making, "the prototype of a trace in the making is no root") end
      dumping.take()
    end)
  end
end

H.case("dumps while it records", function()
  for _, format in ipairs({ "compact", "rfc", "tarantool" }) do
    local d
    local s = H.record(function()
      T.during = { {}, {} }
      d = 0
      for i = 1, 50 do
        T.during[i] = { i }
        if i % 10 == 0 then
          d = d + (memprof.dump(path) and 1 or 0)
        end
      end
    end, { format = format })
    H.eq(d, 5, "dumps")
    H.ok(s.nevents > 50, "%d events", s.nevents)
    local whole = dump.read(path)
    H.eq(dump.faults(whole)[1], nil, "faults")
    H.eq(whole.sums.making, 0, "bytes in the making")
  end
end)

os.remove(path)
os.remove(path .. ".old")
H.done()

-- Finalizers: that allocate, that fail, that start and stop a recording.

local H = require("harness")
local memprof = misc.memprof

H.case("finalizers that allocate", function()
  H.try([[
local function fin(u)
  keep[1] = $cdata --x20
  keep[2] = $string --x20
end
for i = 1, 20 do
  local u = newproxy(true)
  getmetatable(u).__gc = fin
  u = nil
  keep[3] = $array --x20
  collectgarbage()
  keep[3] = $concat --x20
end]])
end)

H.case("finalizers between steps of the collector", function()
  H.try([[
local n = 0
local function fin(u)
  n = n + 1
  keep[1] = $cdata --x*
end
for i = 1, 3000 do
  local u = newproxy(true)
  getmetatable(u).__gc = fin
  keep[2] = { i }
end
collectgarbage()
keep[3] = $array]])
end)

if H.has_ffi then
  H.case("ffi.gc", function()
    H.try([[
local function fin(u)
  keep[1] = $array --x20
end
for i = 1, 20 do
  local c = ffi.gc($cdata, fin) --x20
  c = nil
  collectgarbage()
  keep[2] = $concat --x20
end]], { env = { ffi = require("ffi") } })
  end)
end

H.case("a finalizer that fails", function()
  H.try([[
for i = 1, 20 do
  local u = newproxy(true)
  getmetatable(u).__gc = function()
    keep[1] = $cdata --x20
    error({})
  end
  u = nil
  local ok = pcall(collectgarbage)
  keep[2] = $array --x20
  pcall(collectgarbage)
end]])
end)

H.case("a finalizer that resumes, loads and collects", function()
  H.try([[
for i = 1, 20 do
  local u = newproxy(true)
  getmetatable(u).__gc = function()
    coroutine.wrap(function()
      keep[1] = $cdata --x20
      coroutine.yield()
    end)()
    local f = loadstring("return 1")
    keep[1] = $string --x20
    collectgarbage()
    keep[1] = $table --x20
  end
  u = nil
  coroutine.wrap(function()
    collectgarbage()
    keep[2] = $array --x20
  end)()
  keep[2] = $concat --x20
end]])
end)

-- Start and stop ---------------------------------------------------------------

-- These are not compiled: what that allocates after the stop would be counted.

local function finalize(fn)
  local u = newproxy(true)
  getmetatable(u).__gc = fn
  u = nil
  collectgarbage()
  collectgarbage()
end

local function check_file(path, live)
  local s = H.decode_file(path)
  os.remove(path)
  H.check_books(s)
  if s.totals then H.eq(s.totals.live, live, "TOTALS live") end
  return s
end

H.case("start inside a finalizer", H.off(function()
  local path, started, msg = H.path()
  finalize(function()
    started, msg = memprof.start(path, { format = H.format })
  end)
  H.eq(started, true, "start: " .. tostring(msg))
  local keep = {}
  for i = 1, 100 do keep[i] = { i } end
  collectgarbage()
  H.eq(memprof.stop(), true, "stop")
  check_file(path, H.count())
end))

H.case("stop inside a finalizer", H.off(function()
  local path, stopped, live = H.path()
  H.eq(memprof.start(path, { format = H.format }), true, "start")
  local keep = {}
  for i = 1, 100 do keep[i] = { i } end
  finalize(function()
    stopped = memprof.stop()
    live = H.count()
  end)
  H.eq(stopped, true, "stop")
  H.eq(memprof.is_running(), false, "is_running")
  check_file(path, live)
end))

H.case("a whole recording inside a finalizer", H.off(function()
  local path, live, good = H.path()
  finalize(function()
    good = memprof.start(path, { format = H.format })
    local keep = {}
    for i = 1, 100 do keep[i] = { i } end
    collectgarbage()
    good = good and memprof.stop()
    live = H.count()
  end)
  H.eq(good, true, "start and stop")
  local s = check_file(path, live)
  H.ok(#H.find(s, { kind = "alloc", name = nil }) >= 100, "allocations are missing")
end))

-- lua_close --------------------------------------------------------------------

H.case("finalizers during lua_close", function()
  local path = H.path(".close.bin")
  local out, status = H.child(string.format([[
assert(misc.memprof.start(%q, { format = %q }))
for i = 1, 10 do
  local u = newproxy(true)
  getmetatable(u).__gc = function()
    local t = ("x"):rep(5003 + 4 * i)
    io.write(i, " ")
  end
  _G["u" .. i] = u
end
os.exit(0, true)]], path, H.format))
  H.eq(status, 0, "exit status")
  H.eq(#out:gsub("%d+", ""), 10, "finalizers that ran: " .. out)
  local s = H.decode_file(path)
  os.remove(path)
  H.check_books(s)
  local n = 0
  for _, e in ipairs(s.events) do
    if e.kind == "alloc" and e.nsize > 5003 and e.nsize < 5100 then
      n = n + 1
      H.eq(e.site.line, 5, "line of " .. H.describe(e.site))
      H.eq(e.site.first, 4, "function of " .. H.describe(e.site))
    end
  end
  H.eq(n, 10, "finalizers' strings")
end)

H.done()

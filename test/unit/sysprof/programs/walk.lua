-- Short programs to be single-stepped, with all that a stack may have in it.
-- Each is begun with a mark: the attempt to remove a file of that name.

local jitted = arg[1] == "jit" and pcall(require, "jit.opt")
if jit and not jitted then jit.off() end
if jitted then require("jit.opt").start("hotloop=3", "hotexit=2") end
local ffi = pcall(require, "ffi") and require("ffi")

local function mark(name) os.remove("mark:" .. name) end

local programs = {}
local function program(name, f) programs[#programs + 1] = {name, f} end

local function leaf(a, b) return a end
local function add(a, b) local c = leaf(a, b) return c + 1 end

program("calls", function()
  local x = 0
  for i = 1, 40 do
    x = add(x, i)
    if x % 3 == 0 then x = x + leaf(1, 2) end
  end
  return x
end)

program("tailcalls", function()
  local function last(n) return n end
  local function tail(n) if n == 0 then return last(n) end return tail(n - 1) end
  local function vtail(...) return select("#", ...) == 9 and 1 or last(...) end
  for i = 1, 6 do tail(i) vtail(i) vtail(i, i) tostring(tail(2)) end
end)

program("varargs", function()
  local function va(...) local a, b = ... return select("#", ...), a, b end
  local function pack(...) return {va(...)} end
  for i = 1, 6 do
    va() va(1) va(1, 2, 3) pack(i, 2, 3, 4) va(select(2, 1, va(2)))
    unpack(pack(1, 2, 3))
    math.max(va(3, 4))
  end
end)

program("pcalls", function()
  local function bad(n) if n == 0 then error("x", 0) end bad(n - 1) return 1 end
  local function handler(m) return m .. leaf("!", 1) end
  for i = 1, 4 do
    pcall(leaf, 1, 2)
    pcall(bad, 3)
    xpcall(bad, handler, 2)
    xpcall(function() local y = nil; return y.x end, handler)
    pcall(pcall, pcall, bad, 1)
    pcall(error)
    pcall(function() local t = setmetatable({}, {__index = bad}) return t[0] end)
    select("#", pcall(string.rep))
    assert(pcall(string.format, "%d", 3))
    xpcall(error, debug.traceback, "deep")
  end
end)

program("metamethods", function()
  local mt = {}
  mt.__add = function(a, b) return add(1, 2) end
  mt.__sub = function(a, b) return 1, 2 end
  mt.__unm = function(a) return 1 end
  mt.__concat = function(a, b) return "c" end
  mt.__len = function(a) return 3 end
  mt.__eq = function(a, b) return leaf(true) end
  mt.__lt = function(a, b) local x = leaf(true) return x end
  mt.__le = function(a, b) return leaf(false) end
  mt.__index = function(t, k) local v = add(1, k == "x" and 1 or 2) return v end
  mt.__newindex = function(t, k, v) leaf(k, v) end
  mt.__call = function(self, a, b) local x = leaf(a, b) return x end
  mt.__tostring = function() return leaf("text") end
  mt.__mod = function() return 1 end
  mt.__pow = function() return 1 end
  for i = 1, 3 do
    local a, b = setmetatable({}, mt), setmetatable({}, mt)
    local x = a + b
    x = a + 1
    x = 1 + a
    x = a - b
    x = -a
    x = a .. "x"
    x = "x" .. 1 .. a .. "y" .. b
    x = a == b
    if a < b then x = 1 end
    if a <= b then x = 1 end
    if not (a > b) then x = 2 end
    x = a.x
    x = a[i]
    x = a["k" .. i]
    a.y = 1
    a[i] = 2
    x = a(1, 2)
    x = tostring(a)
    x = a % 2
    x = a ^ 2
    x = ("%s %s"):format(a, 1)
    local c = setmetatable({}, {__index = setmetatable({}, mt)})
    x = c.field
    x = rawget(c, "field")
    pcall(function() return a .. nil end)
    pcall(function() return #a + {} end)
  end
end)

program("callbacks", function()
  for i = 1, 3 do
    local s = ("abcd"):gsub("%w", function(c) return leaf(c, 1) end)
    s = ("abcd"):gsub("%w", {a = "x"})
    local t = {3, 1, 2, 5}
    table.sort(t, function(a, b) local r = leaf(a, b) return r < b end)
    table.sort(t, function(a, b) return a > b end)
    for w in ("one two"):gmatch("%a+") do leaf(w) end
    for k, v in pairs({1, 2, a = 1}) do leaf(k) end
    for k, v in ipairs({1, 2}) do leaf(k) end
    for k in next, {1} do leaf(k) end
    for x in function(_, n) if not n then return add(1, 2) end end do leaf(x) end
    loadstring("return ...")(1)
    load(function() return nil end)
    table.foreach({1, 2}, function(k, v) leaf(k, v) end)
    string.rep("x", 3)
    table.concat({1, 2, 3}, ",")
  end
end)

program("coroutines", function()
  local wrap, yield, resume = coroutine.wrap, coroutine.yield, coroutine.resume
  for i = 1, 2 do
    local gen = wrap(function(a) for k = 1, 3 do a = yield(add(k, a)) end return 0 end)
    for k = 1, 3 do gen(k) end
    local function nest(n)
      if n == 0 then yield("in") leaf(1) return 1 end
      local co = coroutine.create(nest)
      local ok, v = resume(co, n - 1)
      if v == "in" then yield("in") resume(co) end
      return leaf(n)
    end
    local co = coroutine.create(nest)
    resume(co, 3)
    resume(co)
    local p = wrap(function()
      pcall(function() yield(1) leaf(2) yield(3) error("x") end)
      xpcall(function() yield(1) error("y") end, function(m) return leaf(m) end)
      local t = setmetatable({}, {__index = function(t, k) return yield(k) end})
      local x = t.a
      yield(x)
      for y in wrap(function() yield(1) yield(2) end) do leaf(y) end
      return 1
    end)
    for k = 1, 6 do p(k) end
    local bad = coroutine.create(function() add(1, 2) error("z") end)
    resume(bad)
    resume(bad)
    pcall(wrap(function() local x = nil; return x.y end))
    coroutine.status(bad)
    coroutine.running()
  end
end)

program("arithmetic", function()
  local floor, x = math.floor, 1.5
  for i = 1, 20 do
    x = (x * 3.7 + i) % 17
    x = x + floor(x) + math.ceil(x) + x ^ 2 % 5 + x ^ 0.5
    x = math.sqrt(x) + math.sin(x) + math.log(x) + math.fmod(x, 3)
    x = x + bit.band(i, 3) + math.min(x, i, 3) + math.abs(-x)
    x = -x % 7
    if x ~= x then x = 1 end
  end
  for i = 1.5, 3, 0.5 do x = x + i % 1 end
  return x
end)

program("strings", function()
  local t = {}
  for i = 1, 6 do
    local s = "a" .. i .. "b"
    s = s:upper():lower():rep(2):sub(1, 3):reverse()
    t[#t + 1] = ("%d %s %5.2f %q"):format(i, s, i / 3, s)
    s = tostring(i) .. tonumber("12") .. #s .. s:byte(1) .. string.char(65)
    t[s] = s:find("b", 1, true)
    t[i % 3] = nil
    s = tostring({}) .. tostring(print)
    tostring(1.25) tonumber("0x10", 16) tonumber("zz", 36)
  end
end)

program("gc", function()
  local function gone(p) leaf(p) add(1, 2) end
  for i = 1, 6 do
    for k = 1, 20 do
      local p = newproxy(true)
      getmetatable(p).__gc = gone
      local t = {k, {k}, tostring(k), function() return p end}
    end
    collectgarbage("step", 10)
    if i % 3 == 0 then collectgarbage() end
  end
end)

program("hooks", function()
  local function hook(ev, line) leaf(ev, line) end
  debug.sethook(hook, "crl")
  local x = add(1, 2)
  x = add(x, 2)
  pcall(leaf, 1)
  tostring(x)
  debug.sethook(hook, "", 3)
  for i = 1, 3 do x = add(x, i) end
  debug.sethook()
end)

program("recursion", function()
  local function deep(n, a, b, c) if n == 0 then return 0 end return 1 + deep(n - 1, a, b, c) end
  deep(120, 1, 2, 3)
  local function many(...) return select("#", ...) end
  local t = {}
  for i = 1, 300 do t[i] = i end
  many(unpack(t))
  local co = coroutine.wrap(function() return deep(60) end)
  co()
  pcall(function() local function f() return 1 + f() end return deep(20) end)
end)

program("loops", function()
  local t, x = {}, 0
  for i = 1, 60 do t[i] = i * 2 end
  for k = 1, 3 do
    for i = 1, #t do
      if t[i] % 4 == 0 then x = x + leaf(t[i], 1) else x = add(x, i) end
    end
    for i, v in ipairs(t) do x = x + v end
    for i, v in pairs(t) do x = x + v end
    local n = 0
    while n < 12 do n = n + 1 x = x + n end
    repeat n = n - 1 until n < 3
  end
  local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
  fib(9)
  local function up(n) if n > 0 then return up(n - 1) + 1 end return 0 end
  for i = 1, 8 do up(12) end
  local s = 0
  local o = setmetatable({}, {__index = function(_, k) return add(k, 1) end})
  for i = 1, 30 do s = s + o[i] end
  for i = 1, 30 do s = s .. "" s = tonumber(s) + 1 end
  for i = 1, 30 do pcall(leaf, i) tostring(i) t = {i, {}} end
  for i = 1, 10 do ("x"):gsub("x", leaf) end
  if jitted then jit.flush() end
  return s
end)

if ffi then
  ffi.cdef[[
    void qsort(void *, size_t, size_t, int (*)(const int *, const int *));
    int abs(int);
    double sin(double);
    struct walk_t { int x; };
  ]]
  program("ffi", function()
    local a = ffi.new("int[4]", 4, 2, 3, 1)
    local cb = ffi.cast("int (*)(const int *, const int *)",
                        function(p, q) local r = leaf(p[0], 1) return r - q[0] end)
    for i = 1, 3 do
      a[0], a[1], a[2], a[3] = 4, 3, 1, 2
      ffi.C.qsort(a, 4, 4, cb)
      ffi.C.abs(-i)
      ffi.C.sin(i)
      pcall(function() ffi.C.qsort(a, 4, 4, cb) end)
    end
    cb:free()
    local ty = ffi.metatype("struct walk_t", {
      __index = function(s, k) return leaf(k) end,
      __add = function(p, q) local r = add(p.x, q.x) return r end,
      __gc = function() leaf(1) end,
    })
    for i = 1, 3 do
      local o = ty(i)
      local x = o.y
      x = o + o
      x = o.x
    end
    collectgarbage()
    for i = 1, 12 do ffi.C.abs(i) ffi.C.sin(i) end
  end)
end

local cbench = package.loaded.cbench
if arg[2] then
  package.cpath = arg[2]
  cbench = require("cbench")
  program("capi", function()
    for i = 1, 2 do
      cbench.call(add, 1, 2)
      cbench.pcall(leaf, 1)
      cbench.cpcall(leaf, 1)
      cbench.resume(leaf, 1)
      pcall(cbench.call, error, "x")
      pcall(cbench.pcall, cbench.call, function() error("y") end)
      -- (LuaJIT itself crashes on traces that follow this.)
      if not jitted then pcall(cbench.resume, cbench.pcall, error) end
      local function cross(n)
        if n > 0 then
          cbench.call(cross, n - 1)
          cbench.pcall(leaf, n)
        end
        return leaf(n)
      end
      cross(5)
      local co = coroutine.wrap(function() cbench.resume(coroutine.wrap(cross), 2) end)
      co()
    end
  end)
end

for _, p in ipairs(programs) do
  mark(p[1])
  p[2]()
end
mark("end")

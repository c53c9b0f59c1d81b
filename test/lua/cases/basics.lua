-- Lines of plain code: every way to allocate, loops, builtins, varargs, calls.

local H = require("harness")

H.case("every kind of allocation, line by line", function()
  H.try([[
keep[1] = $cdata
keep[2] = $string
keep[3] = $array
keep[4] = $table
keep[5] = $concat
local a, b = $cdata, $cdata
local c =
  $cdata
local function f(x)
  local y = $cdata --x3
  return y, x
end
f(
  $string
)
f() f()
local function g() local t = $array return t end --x2
g() g()
return nil]])
end)

H.case("loops", function()
  local _, _, traced = H.try([[
for i = 1, 40 do
  keep[1] = $cdata --x40
  keep[1] = $concat --x40
end
for k, v in ipairs({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }) do
  keep[1] = $array --x15
end
local n = 0
while n < 30 do
  n = n + 1
  keep[1] = $string --x30
  if n % 2 == 0 then
    keep[1] = $cdata --x15
  else
    keep[1] = $array --x15
  end
end
repeat
  n = n - 1
  keep[1] = $table --x30
until n == 0
local t = {}
for i = 1, 20 do t[i * 3] = i end
for k, v in pairs(t) do
  keep[1] = $cdata --x20
end
for k, v in next, t do
  for i = 1, 3 do
    keep[1] = $cdata --x60
  end
  keep[1] = $array --x20
end
::again::
n = n + 1
keep[1] = $cdata --x25
if n < 25 then goto again end]])
  if H.jit and H.format ~= "rfc" then
    H.ok(traced > 10, "only %d allocations on traces", traced)
  end
end)

H.case("a builtin is told as the line that called it", function()
  H.try([[
keep[1] = ("x"):rep(1) .. $string
keep[1] = select(2, pcall(rep, $stringargs))
keep[1] = select(2, pcall(pcall, rep, $stringargs))
keep[1] = select(2, xpcall(rep, print, $stringargs))
local function inner()
  local x = $cdata --x2
  return x
end
pcall(inner)
pcall(pcall, inner)
keep[1] = { pcall(tabnew, $arrayargs) }
keep[1] = math.max(1, 2, #$string)
keep[1] = tostring(setmetatable({}, { __tostring = function()
  local s = $string
  return s
end }))
keep[1] = $cdata]])
end)

H.case("varargs", function()
  H.try([[
local function v(...)
  keep[1] = $cdata --x40
  local t = { ... }
  keep[2] = $array --x40
  return select("#", ...), ...
end
local function w(...)
  local n = v(...)
  keep[1] = $string --x20
  return n, ...
end
for i = 1, 20 do
  w(1, 2, 3)
  v()
  keep[1] = $cdata --x20
end
local function u(...)
  keep[1] = $cdata --x20
  return ...
end
for i = 1, 20 do
  local e, f, g = u(1, $cdata, 3) --x20
  keep[1] = f
end
local function z(...) local e = ... keep[1] = $string return e end --x20
for i = 1, 20 do z(i) end
for i = 1, 20 do
  local s = #rep("a", i)
  pcall(function(...) keep[1] = $cdata return ... end, 1, 2) --x20
end]])
end)

H.case("a tail call loses the caller's line, as Lua has it", function()
  H.try([[
local function t1() return new($cdataargs) end --@one
keep[1] = t1() --:one
local function t2() return new($cdataargs) end --@two
local function t3() return t2() end
keep[1] = t3() --:two
local function deep(n)
  if n == 0 then
    keep[1] = $cdata
    return 1
  end
  return deep(n - 1)
end
local x = deep(100)
local function last(n) if n > 0 then return last(n - 1) end return rep($stringargs) end --@three
keep[1] = last(50) --:three
keep[1] = $cdata]])
end)

-- What a line allocates in bytes, by the VM's own count and by its events. The
-- JIT compiler's own memory would be in the count, too.
if not H.jit then H.case("the bytes of a line", function()
  local lines = {
    "keep.x = { 1, 2, 3, a = 1, b = 2, c = {} }",
    "local a, b, c = 1, 2, 3; keep.f = function() return a, b, c end",
    "keep.s = tostring(#keep * 2 + 0.25) .. tostring(keep)",
    "keep.co = coroutine.create(print)",
    "keep.w = coroutine.wrap(print)",
    "keep.u = newproxy(true)",
    "keep.l = loadstring('local a = ...; return function() return a end')",
    "local t = {}; for i = 1, 100 do t[i] = i end; keep.t = t",
    "local t = {}; for i = 1, 100 do t['k' .. i] = i end; keep.t = t",
    "keep.v = { unpack({ 1, 2, 3, 4, 5 }) }",
    "keep.e = { pcall(error, {}) }",
    "keep.g = (('abc'):rep(10):gsub('b', 'xyz'))",
    "keep.f = ('%d %s %5.2f'):format(1, 'two', 3)",
    "keep.c = table.concat({ 'a', 'b', 'c' }, ', ')",
  }
  for i, line in ipairs(lines) do
    local fn = assert(loadstring("local keep = ...\n" .. line, "@line.lua"))
    local keep, bytes = {}, nil
    local s = H.record(function()
      collectgarbage("stop")
      local before = H.count()
      fn(keep)
      bytes = H.count() - before
      collectgarbage("restart")
    end)
    H.ok(bytes > 0, "no bytes")
    H.eq(H.sum(H.find(s, { line = 2, chunk = "@line.lua" })), bytes, "bytes of: %s", line)
  end
end) end

H.done()

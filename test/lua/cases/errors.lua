-- Errors: what is thrown, handlers, protected calls of the VM itself.

local H = require("harness")

H.case("errors of Lua and of builtins", function()
  H.try([[
for i = 1, 20 do
  local ok, msg = pcall(function()
    keep[1] = $cdata --x20
    local x = nil
    return x.field, $array --x0
  end)
  ok, msg = pcall(function() return #5 end)
  keep[1] = $string --x20
  ok, msg = pcall(rep)
  ok, msg = pcall(rep, {}, $cdata) --x20
  keep[1] = $concat --x20
  ok, msg = pcall(string.format, "%d", "x" .. i)
  keep[1] = $array --x20
  ok, msg = pcall(function() error("text" .. i) end)
  pcall(error, $array) --x20
  ok, msg = pcall(function() error($table) end) --x20
  ok, msg = pcall(function() assert(false, $array) end) --x20
  keep[1] = $cdata --x20
end]])
end)

H.case("handlers that allocate", function()
  H.try([[
local function handler(e)
  keep[1] = $cdata --x40
  return debug.traceback(tostring(e), 1)
end
local function fail(n)
  keep[2] = $array --x40
  error("n" .. n)
end
for i = 1, 20 do
  xpcall(fail, handler, i)
  keep[1] = $string --x20
  xpcall(function() fail(i) end, handler)
  keep[1] = $concat --x20
  xpcall(function() return nil + 1 end, function(e)
    keep[1] = $table --x20
    return e
  end)
  keep[1] = $cdata --x20
end]])
end)

H.case("an error in the handler", function()
  H.try([[
for i = 1, 20 do
  local ok, msg = xpcall(function() error("a") end, function(e)
    keep[1] = $cdata --x*
    error("b")
  end)
  keep[1] = $array --x20
  ok, msg = xpcall(function() local x = nil; x() end, function(e)
    keep[1] = $string --x*
    local y = e.z.w
  end)
  keep[1] = $concat --x20
  ok, msg = xpcall(error, error, $array) --x20
  keep[1] = $table --x20
end]])
end)

H.case("errors through many frames", function()
  H.try([[
local function level(n)
  if n == 0 then error($array) end --x20
  local x = level(n - 1)
  keep[1] = x
end
local function guarded(n)
  local ok, e = pcall(n > 0 and guarded or error, n - 1)
  keep[1] = $array --x40
  return ok
end
local sorter = { 3, 2, 1 }
for i = 1, 20 do
  pcall(level, 50)
  keep[1] = $string --x20
end
local ok = pcall(table.sort, sorter, function(a, b)
  keep[1] = $cdata
  error("stop")
end)
ok = pcall(string.gsub, "abc", ".", function(c)
  keep[1] = $cdata
  error("stop")
end)
keep[1] = $concat
for i = 1, 8 do
  guarded(4)
end
keep[1] = $table]])
end)

H.case("stack overflow", function()
  H.try([[
local function r(n)
  return 1 + r(n + 1)
end
local function allocating(n)
  if n % 1000 == 0 then
    keep[1] = $cdata --x*
  end
  return 1 + allocating(n + 1)
end
local function handler(e)
  keep[1] = $cdata --x*
  return e
end
handler() -- There may be no room to call it, by one slot more or less.
for i = 1, 3 do
  local ok, msg = pcall(r, 0)
  keep[1] = $array --x3
  ok, msg = pcall(allocating, 0)
  keep[1] = $string --x3
  ok, msg = xpcall(r, handler, 0)
  keep[1] = $concat --x3
  ok, msg = pcall(string.rep, "x", -1)
  ok, msg = coroutine.resume(coroutine.create(r), 0)
  keep[1] = $table --x3
  local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end })
  ok, msg = pcall(function() return t[1] end)
  keep[1] = $cdata --x3
end]])
end)

-- The parser runs in a C frame of its own, and calls back to Lua.
H.case("a loader's reader that allocates", function()
  H.try([[
for i = 1, 20 do
  local n = 0
  local f = load(function()
    n = n + 1
    keep[1] = $cdata --x80
    if n == 2 then return "return " end
    if n == 3 then return "1" end
    return n == 1 and " " or nil
  end)
  keep[1] = $array --x20
  local g, msg = load(function() keep[1] = $string error("no") end) --x20
  keep[1] = $concat --x20
  g, msg = loadstring("this is wrong")
  keep[1] = $table --x20
  g = loadstring("local a = 1; return function() return a end")
  keep[1] = $cdata --x20
end]])
end)

H.done()

-- Metamethods that allocate, and what follows them on the same line.

local H = require("harness")

H.case("metamethods of tables", function()
  H.try([[
local mt = {}
mt.__index = function(t, k)
  keep[1] = $cdata --x40
  return k
end
mt.__newindex = function(t, k, v)
  keep[1] = $array --x20
  rawset(t, k, nil)
end
mt.__call = function(self, a)
  keep[1] = $string --x20
  return a
end
mt.__concat = function(a, b)
  keep[1] = $cdata --x60
  return "c"
end
mt.__add = function(a, b) keep[1] = $concat return 1 end --x20
mt.__sub = function(a, b) keep[1] = $concat return 1 end --x20
mt.__unm = function(a) keep[1] = $cdata return 1 end --x20
mt.__mod = function(a, b)
  keep[1] = $table --x20
  return 1
end
mt.__eq = function(a, b)
  keep[1] = $cdata --x40
  return true
end
mt.__lt = function(a, b)
  keep[1] = $array --x40
  return true
end
mt.__le = function(a, b)
  keep[1] = $string --x40
  return false
end
local o, p = setmetatable({}, mt), setmetatable({}, mt)
for i = 1, 20 do
  local x = o.field
  x = o[i]
  o.field = $cdata --x20
  x = o($cdata) --x20
  x = o .. $string --x20
  x = $string .. o .. "x" .. o --x20
  x = o + i
  x = i - o
  x = -o
  x = o % 2
  keep[1] = $cdata --x20
  if o == p then keep[1] = $concat end --x20
  if o ~= p then keep[1] = 0 end
  if o < p then keep[1] = $array end --x20
  if o > p then x = 1 end
  if o <= p then x = 1 end
  if o >= p then x = 1 end
  keep[2] = $table --x20
end]])
end)

H.case("metamethods of userdata", function()
  H.try([[
local u, v = newproxy(true), nil
local mt = getmetatable(u)
v = newproxy(u)
mt.__len = function(x)
  keep[1] = $cdata --x20
  return 7
end
mt.__index = function(x, k)
  keep[1] = $string --x20
  return k
end
mt.__eq = function(x, y) keep[1] = $array return false end --x20
mt.__div = function(x, y) keep[1] = $cdata return 3 end --x20
mt.__tostring = function(x)
  keep[1] = $array --x20
  return "me"
end
for i = 1, 20 do
  local n = #u
  n = u.field
  n = (u == v)
  n = u / 2
  n = tostring(u)
  keep[2] = $cdata --x20
end]])
end)

-- A metamethod that is itself a builtin: the line that needed it.
H.case("builtins as metamethods", function()
  H.try([[
local t = setmetatable({}, { __index = rep, __call = rep, __concat = function() return "" end })
local s = debug.getmetatable("").__index
debug.getmetatable("").__call = rep
for i = 1, 20 do
  keep[1] = (chars[i])(30000 + i)
  keep[2] = $cdata --x20
end
debug.getmetatable("").__call = nil
local n = setmetatable({}, { __index = tabnew })
local g = setmetatable({}, { __newindex = rawset })
for i = 1, 10 do
  g["a" .. i] = $array --x10
end]])
end)

if H.has_ffi then
  H.case("metamethods of cdata", function()
    H.try([[
local mt = {}
mt.__index = function(x, k)
  keep[1] = $cdata --x20
  return 1
end
mt.__add = function(x, y) keep[1] = $array return 2 end --x20
mt.__concat = function(x, y)
  keep[1] = $string --x20
  return "s"
end
mt.__call = function(x) keep[1] = $cdata return 1 end --x20
mt.__len = function(x) keep[1] = $concat return 1 end --x20
local T = ffi.metatype("struct { int a; }", mt)
local x = T(1)
for i = 1, 20 do
  local y = x.field
  y = x + 1
  y = x .. "b"
  y = x()
  y = #x
  keep[2] = $cdata --x20
end]], { env = { ffi = require("ffi") } })
  end)
end

H.case("a metamethod that yields, one that fails", function()
  H.try([[
local o = setmetatable({}, {
  __index = function(t, k)
    keep[1] = $cdata --x20
    local x = coroutine.yield($array) --x20
    keep[1] = $string --x20
    return x
  end,
  __add = function(a, b)
    keep[1] = $cdata --x20
    error({})
  end,
})
for i = 1, 20 do
  local co = coroutine.wrap(function()
    local x = o.field
    keep[1] = $concat --x20
    return x
  end)
  co()
  co(1)
  local ok = pcall(function() return o + 1 end)
  keep[2] = $cdata --x20
end]])
end)

H.done()

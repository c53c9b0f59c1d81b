-- Compiled code of many kinds, one instruction or two a line: branches, loops
-- in loops, functions that are inlined and leave no trace of themselves,
-- recursion up and down, metamethods, iterators, strings, tables, FFI.

local ffi = require "ffi"
local bit = require "bit"
local sum = 0

local function arithmetic(n)
  local x, y = 1, 2
  for i = 1, n do
    x = x * 0.5
      + y
    y = y - i
    if y < -1000 then
      y = x
    elseif x > 3 then
      x = x / 2
    else
      x = x + 1
    end
    x = x
      - i % 3
  end
  return x + y
end

local function nested(n)
  local x = 0
  for i = 1, n do
    local k = i
    while k > 0 do
      k = k - 3
      if k % 2 == 0 then
        x = x + k
        repeat
          k = k - 1
        until k % 4 == 0
      end
    end
    x = x + i
  end
  return x
end

local function one(x)
  return x + 1
end

local function two(x)
  local y = one(x)
  return y * 2
end

local function inlined(n)
  local x = 0
  for i = 1, n do
    x = x
      + two(i)
    if one(i) > 5 then
      x = x - one(
        x)
    end
    x = bit.band(
      x, 0xffff)
  end
  return x
end

local function fib(n)
  if n < 2 then
    return n
  end
  return fib(n - 1)
    + fib(n - 2)
end

local function tree(depth)
  if depth > 0 then
    local left = tree(depth - 1)
    local right = tree(depth - 1)
    return { left, right }
  else
    return {}
  end
end

local function count(t)
  if t[1] then
    return count(t[1])
      + count(t[2])
  end
  return 1
end

local function last(n, x)
  if n == 0 then
    return x
  end
  return last(n - 1,
    x + n)
end

local vector = {}
vector.__index = vector
vector.__add = function(a, b)
  return setmetatable({
    x = a.x + b.x,
    y = a.y + b.y
  }, vector)
end
function vector:length()
  return math.sqrt(
    self.x * self.x
    + self.y * self.y)
end

local function metamethods(n)
  local v = setmetatable({ x = 0, y = 1 }, vector)
  local one = setmetatable({ x = 1, y = 0 }, vector)
  local x = 0
  for _ = 1, n do
    v = v + one
    x = x
      + v:length()
  end
  return x
end

local function tables(n)
  local t, u = {}, {}
  for i = 1, n do
    t[i] = i
    t.last = i
    u[i % 7] = t
    u.n = (u.n or 0)
      + #t
  end
  local x = 0
  for _, v in ipairs(t) do
    x = x + v
  end
  for k, v in pairs(u) do
    if k ~= "n" then
      x = x + #v
    end
  end
  return x
end

local function strings(n)
  local parts = {}
  local x = 0
  for i = 1, n do
    local s = "n" .. i
    parts[#parts + 1] = s
    if s:sub(2, 2) == "1" then
      x = x + #s
    end
    x = x + s:byte(
      #s)
    local u = s:rep(
      3)
    if u < s then
      x = x - 1
    end
  end
  return x + #table.concat(parts)
end

local point = ffi.typeof("struct { double x, y; int32_t n; }")

local function cdata(n)
  local p = point()
  local a = ffi.new("int32_t[16]")
  for i = 1, n do
    p.x = p.x + i
    p.n = p.n + 1
    a[bit.band(i, 15)] = p.n
    p.y = a[bit.band(i + 1, 15)]
    ffi.fill(a, 8)
  end
  return p.x + p.y + p.n
end

-- Functions of libraries that call others.
local shown = setmetatable({}, { __tostring = function()
  sum = sum
    + 1
  return "x"
end })

local function entered(n)
  local x = 0
  for i = 1, n do
    x = x
      + one(i)
    local s = tostring(shown)
    x = x * 0.5
      + #s
    local _, y = pcall(two, x)
    x = y
      - i
  end
  return x
end

-- Metamethods of a type, one of which is called by its name, too.
local vector
local function plus(a, b)
  return vector(a.x + b.x,
    a.y - b.y)
end

local function minus(a, b)
  return a.x
    - b.y
end

vector = ffi.metatype("struct { double x, y; }", {
  __add = plus, __sub = minus,
  __index = function(v, key)
    return key == "length" and v.x * v.x
      or v.y * 3
  end,
  __len = function(v)
    return v.x
      + 3
  end,
})

local function metatypes(n)
  local v, w, x = vector(1, 2), vector(0.5, 3), 0
  for i = 1, n do
    x = x
      + one(i)
    v = v
      + w
    x = x * 0.25
      + v.length
    w = plus(w,
      v)
    x = x - v.other
      + #w
  end
  for i = 1, n do
    x = x
      + one(i)
    x = x * 0.5
      + (v - w)
  end
  return x + v.x
end

-- Functions that metamethods and fields have by other names than their own.
local function sum_of(a, b)
  return a.x * 0.5
    + b.x
end

local function half(_, y)
  return y * 0.5
    - 3
end

local function twice(t)
  return t.x
    + t.x
end

local function smaller(a, b)
  return a.x
    < b.x
end

local function named(t, meta)
  return setmetatable(t, meta)
end

local metas = { { __add = sum_of }, { __call = half }, { __index = twice }, { __lt = smaller } }
local names = { step = half, other = sum_of }

names.point = { x = 2 }
metas[1].point = { x = 3 }

local function aliased(n)
  local x = 0
  for k, meta in ipairs(metas) do
    local a, b = named({ x = 1 }, meta), named({ x = k }, meta)
    for i = 1, n do
      x = x * 0.25
        + one(i)
      if k == 1 then
        x = x
          + (a + b)
      elseif k == 2 then
        x = x
          + a(i)
      elseif k == 3 then
        x = x
          + a.none
      elseif a < b then
        x = x
          - 1
      end
    end
  end
  for i = 1, n do
    x = x
      + names.step(names, i % 3 == 0 and one(i) or x)
    x = x * 0.25
      + names.other(i % 5 == 0 and metas[1].point or names.point, names.point)
  end
  return x
end

local function upvalues(n)
  for i = 1, n do
    sum = sum + i
    if i % 5 == 0 then
      sum = sum
        - 1
    end
  end
  return sum
end

local function closures(n)
  local x = 0
  local function add(y)
    x = x + y
    return x
  end
  for i = 1, n do
    if add(i) > 100 then
      add(-100)
    end
  end
  return x
end

local generator = coroutine.wrap(function()
  local i = 0
  while true do
    i = i + 1
    coroutine.yield(i)
  end
end)

local function coroutines(n)
  local x = 0
  for _ = 1, n do
    x = x + generator()
  end
  return x
end

-- Calls of what is in a slot or a field, in each other, and at the end.
local function tail(x)
  return x * 3
end

local function inner(x)
  return tail(
    x + 1)
end

local function outer(x)
  local y = inner(x)
    + 2
  return one(y
    - 1)
end

local function callee(f, n)
  local x = 0
  for i = 1, n do
    x = x
      + f(i)
  end
  return x
end

local function either(n)
  local x, g = 0, one
  for i = 1, n do
    x = x + (i > 50 and inner
      or two)(i)
    x = x - g(
      i)
    if i % 10 == 0 then
      g = g == one and two
        or one
    end
  end
  return x
end

local object = {value = 1, one = two, two = one}

function object:step(f)
  assert(
    self.value > 0)
  self.value = f(self.value)
    % 100 + 1
  return self.one(self.value)
end

local function stored(n)
  local x = 0
  for i = 1, n do
    x = x + object.two(i)
    if i % 20 == 0 then
      object.two = object.two == one and two or one
    end
  end
  return x
end

local function fields(n)
  local x = 0
  local handler = function(k) return outer(k)
    - 1
  end
  for i = 1, n do
    x = x + object:step(outer)
    for _, v in ipairs {1, 2} do
      x = x +
        handler(v)
    end
  end
  return x
end

-- Conditions that fields and variables are: they leave no snapshot.
local settings = {on = true, off = false, level = 3, toggled = true}

local function conditions(n, flag)
  local x = 0
  for i = 1, n do
    if settings.on then
      x = x + 1
    else
      x = x * 2
    end
    if settings.off then
      x = x * 3
    end
    if settings.missing then
      x = x
        - 4
    end
    if not settings.level then
      x = x + 5
    end
    if settings.toggled then
      x = x / 6
    end
    if flag then
      x = x + 7
    else
      x = x
        - 8
    end
    local y = settings.on and x
      or i
    x = settings.off or y
      + 1
    if i % 30 == 0 then
      settings.toggled = not settings.toggled
    end
  end
  return x
end

-- Closures of the same functions, which call different ones: of two, and of
-- more than the compiler distinguishes.
local function applier(first, second)
  return function(x)
    x = first(x)
      + 1
    return second(x)
      - 1
  end
end

local few = { applier(one, two), applier(two, inner) }
local function applied(n, f, g)
  local x = 1
  for i = 1, n do
    x = few[1](i)
      - x
    x = few[2](x)
      / 3
    if f then
      x = f(x)
        + g(i)
    end
  end
  return x
end

local function polymorphic(n)
  local function twice(f)
    return function(x)
      return f(f(x)
        / 2)
    end
  end
  local list = { twice(one), twice(two), twice(inner), twice(math.abs), twice(math.floor) }
  local x = 0
  for i = 1, n do
    for k = 1, #list do
      x = x * 0.25
        + list[k](i)
    end
  end
  return x + applied(n, list[1], list[5])
end

local function apply(f, x)
  return f(x)
    + 1
end

local function field(t, x)
  local f = t.action
  x = f(x)
    * 2
  local g = x > 20 and t.other or t.action
  return g(x)
    - 2
end

local function arguments(n)
  local t = { action = one, other = inner }
  local x = 0
  for i = 1, n do
    x = x * 0.5
      + apply(two, i)
    x = x
      - apply(inner, x)
    x = field(t, x)
      / 3
  end
  return x
end

for _ = 1, 30 do
  arguments(100)
  applied(100)
  applied(100, one, applier(one, math.sqrt))
  polymorphic(40)
  conditions(100, true)
  conditions(100)
  callee(outer, 100)
  callee(math.sqrt, 100)
  callee(function(x) return x
    / 2
  end, 100)
  either(100)
  stored(100)
  fields(100)
  arithmetic(100)
  nested(60)
  inlined(100)
  fib(12)
  count(tree(6))
  last(60, 0)
  metamethods(100)
  tables(100)
  strings(60)
  cdata(100)
  metatypes(100)
  aliased(100)
  entered(100)
  upvalues(100)
  closures(100)
  coroutines(50)
end

local total = 0
for i = 1, 300 do
  local t = outer(i)
  total = total + inner(t)
    + object:step(outer)
end

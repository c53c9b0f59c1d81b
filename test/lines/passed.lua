-- Functions that are passed to pcall and xpcall, which enter them without an
-- instruction of their own: known and unknown ones, in each other, with tail
-- calls, errors, methods. Some VMs take no snapshot there.

local sum = 0

local function one(x)
  return x
    + 1
end

local function two(x)
  local y = x * 0.5
  return y
    - 3
end

local function handler(e)
  return e
end

local function plain(n)
  local x = 0
  for i = 1, n do
    local _, y = pcall(two, x)
    x = y
      - i
    _, y = pcall(one, x)
    x = x * 0.25
      + y
  end
  return x
end

local function handled(n)
  local x = 0
  for i = 1, n do
    local _, y = xpcall(two, handler, x)
    x = y
      - i
    _, y = xpcall(one, handler, x)
    x = x * 0.25
      + y
  end
  return x
end

-- In each other, and in functions that are inlined.
local function protect(f, x)
  local _, y = pcall(f, x)
  return y
    * 0.5
end

local function double(f, x)
  local _, y = pcall(protect, f, x)
  return y
    - 1
end

local function nested(n)
  local x = 0
  for i = 1, n do
    x = x
      + protect(one, i)
    x = protect(two, x)
      - i
    x = double(one, x)
      + i
    local _, _, y = pcall(pcall, two, x)
    x = y
      * 0.5
    _, _, y = pcall(xpcall, one, handler, x)
    x = y
      + 1
    _, _, y = xpcall(pcall, handler, two, x)
    x = y
      - 1
  end
  return x
end

-- Tail calls: the function that was passed is on no stack any more.
local function through(x)
  x = x
    * 0.5
  return one(
    x - 1)
end

local function further(x)
  x = x
    + 7
  return through(
    x)
end

local function back(x, n)
  x = x
    * 0.5
  if n == 0 then
    return x
      + 2
  end
  return back(
    x - 1, n - 1)
end

local there
local function here(x, n)
  x = x
    + 3
  if n == 0 then
    return x
      - 5
  end
  return there(
    x, n - 1)
end

function there(x, n)
  x = x
    * 0.75
  return here(
    x, n)
end

local function tails(n)
  local x = 0
  for i = 1, n do
    local _, y = pcall(through, x)
    x = y
      - i
    _, y = pcall(further, x)
    x = y
      + 1
    _, y = pcall(back, x, 2)
    x = y
      - 1
    _, y = pcall(here, x, 2)
    x = y
      * 0.5
    x = here(x, 1)
      - i
    x = back(x, 1)
      + 1
  end
  return x
end

-- A tail call leads back to the same function, and no snapshot tells the two
-- from each other.
local level = { n = 3 }
local function again(x, first)
  x = x
    * 0.5
  if first then
    return again(
      x - 1)
  end
  return x
    + level.n
end

local first
local function second(x)
  x = x
    - 1
  return first(
    x / 3)
end

function first(x, whole)
  x = x
    * 2
  if whole then
    return second(
      x + 1)
  end
  return x
    - level.n
end

local function lead(n)
  local x = 0
  for i = 1, n do
    local _, y = pcall(again, x, true)
    x = y
      - i
    _, y = pcall(first, x, true)
    x = y
      + 1
    x = again(x, true)
      - i
    x = first(x, true)
      * 0.5
  end
  return x
end

-- Whatever is passed: more than the compiler distinguishes.
local function whatever(n)
  local list = { one, two, through, further, math.abs, function(x)
    return x
      - 0.5
  end }
  local x = 0
  for i = 1, n do
    for k = 1, #list do
      local _, y = pcall(list[k], x)
      x = y
        * 0.25
    end
    x = x
      + i
  end
  return x
end

-- Fields, upvalues that change, methods.
local object = { value = 1, run = two, other = one }

function object:step(x)
  self.value = self.value * 0.5
    + x
  return self.value
end

local changing = one
local function fields(n)
  local x = 0
  for i = 1, n do
    local _, y = pcall(object.run, x)
    x = y
      + i
    _, y = pcall(object.step, object, x)
    x = y
      - 1
    _, y = pcall(changing, x)
    x = y
      * 0.5
    if i % 20 == 0 then
      changing = changing == one and two or one
      object.run, object.other = object.other, object.run
    end
  end
  return x
end

-- Under another name, with functions beside it that are not called so.
local try = pcall
local function renamed(n)
  local x, attempt = 0, xpcall
  for i = 1, n do
    local _, y = try(two, x)
    x = y
      + one(i)
    _, y = attempt(one, handler, x)
    x = y
      - two(i)
    local ok = try(math.floor, x)
    x = ok and x * 0.5
      or x
  end
  return x
end

-- What is done is not seen outside: stores, loops, calls.
local store = { n = 0 }
local function write(x)
  store.n = x
  store.last = x
    * 2
end

local function count(n)
  local x = 0
  for i = 1, n do
    x = x
      + i
  end
  return x
end

local function effects(n)
  local x = 0
  for i = 1, n do
    pcall(write, i)
    x = x
      + store.n
    pcall(write, x)
    local _, y = pcall(count, 3)
    x = x * 0.5
      + y
  end
  return x
end

-- Errors end the trace, or are caught in it.
local function fail(x)
  if x % 50 == 0 then
    error("no")
  end
  return x
    + 1
end

local function errors(n)
  local x = 0
  for i = 1, n do
    local ok, y = pcall(fail, i)
    x = ok and x
      + y or x
    ok, y = pcall(assert, i % 40 > 0, "no")
    x = ok and x
      - 1 or x
  end
  return x
end

for _, scene in ipairs({ plain, handled, nested, tails, lead, whatever, fields, renamed, effects,
                         errors }) do
  for _ = 1, 3 do sum = sum + scene(300) end
end

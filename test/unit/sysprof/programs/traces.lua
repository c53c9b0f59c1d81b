-- Makes traces of many shapes, and stops itself. Names of functions are in the
-- comments of the lines where they are defined.

local t = {}
for i = 1, 64 do t[i] = (i * 37) % 64 + 1 end

local M = {}

function M.chase(a) --> M.chase
  a = t[t[t[a]]]
  if a > 32 then
    return t[a]
  end
  return t[t[a]]
end

local function recurse(n) --> recurse
  if n == 0 then
    return 1
  end
  return t[n] + recurse(n - 1)
end

local function vararg(...) --> vararg
  local a, b = ...
  if t[a] > b then
    return t[a]
  end
  return b
end

local object = setmetatable({}, {
  __add = function(_, b) --> __add
    if b > 100 then
      return t[b % 64 + 1]
    end
    return b
  end,
  __index = function(_, k) --> __index
    if k > 32 then
      return t[k]
    end
    return -1
  end,
})

local function body(n) --> body
  local s = 0
  for i = 1, n do
    s = s + M.chase(i % 64 + 1)
    s = s + recurse(i % 2 + 1)
    s = s + vararg(i % 64 + 1, 2, 3)
    s = s + (object + i)
    s = s + object[i % 64 + 1]
    local _, v = pcall(M.chase, 5)
    s = s + v
  end
  return s
end

local function strings(n) --> strings
  local s = 0
  for i = 1, n do
    s = s + #(("x"):rep(i % 10) .. i)
  end
  return s
end

local function step(s) --> step
  return s % 7 + #t
end

local function stitched(n) --> stitched
  local s, i = 0, 0
  while os.clock() >= 0 and i < n do -- A trace ends here, and another begins.
    i = i + 1
    s = step(s + i)
  end
  return s
end

local function produce() --> produce
  local i = 0
  while true do
    i = i + step(i)
    coroutine.yield(i)
  end
end

local function switching(n) --> switching
  local made, resumed = coroutine.wrap(produce), coroutine.create(produce)
  local s = 0
  for i = 1, n do -- Traces end at each switch.
    s = s + made()
    local _, v = coroutine.resume(resumed)
    s = s + v + i
  end
  return s
end

assert(body(20000) > 0)
assert(switching(2000) > 0)
assert(stitched(2000) > 0)
assert(strings(2000) > 0)
os.execute("kill -STOP $PPID")
assert(body(20000) > 0)

-- Other traces, at once.
jit.flush()
assert(strings(200) > 0)
os.execute("kill -STOP $PPID")

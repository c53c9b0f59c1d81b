-- Functions that are only reached by tail calls: callers are gone by then, and
-- the place that a frame returns to says nothing of what was called.
local truth = require("truth")

local function last60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function last40(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function hop(k, f, n)
  if k == 0 then return f(n) end
  return hop(k - 1, f, n)
end

local function enter60(n)
  return hop(5, last60, n)
end

local function hold40(n)
  local x = hop(7, last40, n)
  return x + 1
end

local function main()
  truth.measure({
    { "last60", 6, last60, call = enter60 }, { "last40", 4, last40, call = hold40 },
  })
end

truth.chain("main", "last60")
truth.chain("main", "hold40", "last40")
main()

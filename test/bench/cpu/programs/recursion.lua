-- The time is spent 150 calls deep.
local truth = require("truth")

local function leaf(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function down(depth, n)
  local x
  if depth == 1 then x = leaf(n) else x = down(depth - 1, n) end
  return x + 1
end

local function odd(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local even
local function swing(depth, n)
  local x = depth == 1 and odd(n) or even(depth - 1, n)
  return x + 1
end

function even(depth, n)
  local x = swing(depth - 1, n)
  return x + 1
end

local function enter_leaf(n)
  local x = down(150, n)
  return x + 1
end

local function enter_odd(n)
  local x = swing(151, n)
  return x + 1
end

local function main()
  truth.measure({
    { "leaf", 7, leaf, call = enter_leaf }, { "odd", 3, odd, call = enter_odd },
  })
end

truth.chain("main", "enter_leaf", "down*150", "leaf")
truth.chain("main", "enter_odd", string.rep("swing even", 75, " "), "swing", "odd")
main()

-- Small functions that are inlined, with branches: each can leave the trace.
local measure = require("inlined")
local truth = require("truth")

local next_of, seen = {}, {}
for i = 1, 1024 do next_of[i] = (i * 5 + 3) % 1024 + 1 end

-- A step: waits for memory, leaves something behind, and may turn off.
local function a60(x)
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[1] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[2] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[3] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[1] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[2] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[3] = x
  return x
end

local function b30(x)
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[1] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[2] = x
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[3] = x
  return x
end

local function c10(x)
  x = next_of[next_of[next_of[next_of[x]]]] if x > 1024 then return 1 end seen[1] = x
  return x
end

local function main()
  measure(a60, b30, c10)
end

truth.chain("main", "loop", "a60")
truth.chain("main", "loop", "b30")
truth.chain("main", "loop", "c10")
truth.chain("main", "loop")
main()

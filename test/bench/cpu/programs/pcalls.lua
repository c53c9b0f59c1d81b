-- Protected calls: of pcall, xpcall, and with errors thrown through them.
local truth = require("truth")

local function safe50(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function safe30(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function thrown20(n)
  local x = 1
  for i = 1, n do x = x * 0.997 + i end
  error(x)
end

local function handler(e)
  return e
end

local function guard50(n)
  local _, x = pcall(pcall, pcall, safe50, n)
  return x
end

local function guard30(n)
  local _, x = xpcall(safe30, handler, n)
  return x
end

local function guard20(n)
  local _, x = pcall(thrown20, n)
  return x
end

local function main()
  truth.measure({
    { "safe50", 5, safe50, call = guard50 }, { "safe30", 3, safe30, call = guard30 },
    { "thrown20", 2, thrown20, call = guard20 },
  })
end

truth.chain("main", "guard50", "safe50")
truth.chain("main", "guard30", "safe30")
truth.chain("main", "guard20", "thrown20")
main()

-- C and Lua call each other, 70 times: by lua_call, lua_pcall, lua_cpcall, and
-- lua_resume.
local truth = require("truth")
local cbench = require("cbench")

local function bottom40(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function bottom60(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function straight(depth, n)
  if depth == 0 then local x = bottom40(n) return x + 1 end
  cbench.call(straight, depth - 1, n)
  return n
end

local ways = { cbench.call, cbench.pcall, cbench.cpcall, cbench.resume }
local function mixed(depth, n)
  if depth == 0 then local x = bottom60(n) return x + 1 end
  ways[depth % 4 + 1](mixed, depth - 1, n)
  return n
end

local function enter40(n) local x = straight(70, n) return x end
local function enter60(n) local x = mixed(70, n) return x end

local function main()
  truth.measure({
    { "bottom40", 4, bottom40, call = enter40 }, { "bottom60", 6, bottom60, call = enter60 },
  })
end

local names = { "c:cb_call", "c:cb_pcall", "c:cb_cpcall", "c:cb_resume" }
local chain = {}
for depth = 70, 1, -1 do chain[#chain + 1] = "mixed " .. names[depth % 4 + 1] end
truth.chain("main", "enter40", string.rep("straight c:cb_call", 70, " "), "straight", "bottom40")
truth.chain("main", "enter60", table.concat(chain, " "), "mixed", "bottom60")
main()

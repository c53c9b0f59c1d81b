-- A thousand functions, each with a loop and so a trace of its own: 600, 300
-- and 100 of one name.
local truth = require("truth")

jit.opt.start("maxtrace=4000", "maxmcode=16384")

local function make(name, count, k)
  local t = {}
  for i = 1, count do
    t[i] = assert(loadstring(([[
local function %s(n)
  local x = %d
  for i = 1, n do x = x * %g + i end
  return x
end
return %s]]):format(name, i, k, name), "=" .. name .. "_" .. i))()
  end
  return t
end

local many = { make("many60", 600, 0.999), make("many30", 300, 0.998), make("many10", 100, 0.997) }
local function all60(n) for i = 1, 600 do many[1][i](n) end end
local function all30(n) for i = 1, 300 do many[2][i](n) end end
local function all10(n) for i = 1, 100 do many[3][i](n) end end

local function main()
  truth.measure({
    { "many60", 30, many[1][1], call = all60, chunk = "many60_*" },
    { "many30", 15, many[2][1], call = all30, chunk = "many30_*" },
    { "many10", 5, many[3][1], call = all10, chunk = "many10_*" },
  })
end

truth.chain("main", "all60", "many60")
truth.chain("main", "all30", "many30")
truth.chain("main", "all10", "many10")
main()

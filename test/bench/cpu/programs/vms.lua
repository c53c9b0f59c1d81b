-- Several VMs in as many threads, each with functions of its own name:
--   host 8 vms.lua
local truth = require("truth")

local source = [[
local function vm%d_60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end
local function vm%d_40(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end
return vm%d_60, vm%d_40]]
local burn60, burn40 = assert(loadstring((source:gsub("%%d", THREAD or 1)), "=vm" .. (THREAD or 1)))()
local name = "vm" .. (THREAD or 1)

local function main()
  truth.measure({ { name .. "_60", 6, burn60 }, { name .. "_40", 4, burn40 } })
end

truth.chain("main", name .. "_60")
truth.chain("main", name .. "_40")
main()

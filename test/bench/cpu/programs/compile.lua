-- Compiles all the time: a trace for each function, which is called once. The
-- protection of machine code is changed twice for each.
local truth = require("truth")

local text = "local n = 0 for i = 1, 60 do n = n + i * %d end return n"
local made = 0

local function rounds(n)
  for _ = 1, n do
    made = made + 1
    loadstring(text:format(made))()
    if made % 400 == 0 then jit.flush() end
  end
end

-- So many that they take about truth.SPELL.
local n, took = 100, 0
repeat
  n = n * 2
  local start = os.clock()
  rounds(n)
  took = os.clock() - start
until took > truth.SPELL / 2
n = math.floor(n * truth.SPELL / took)

local cbench = require("cbench")
truth.turns(function()
  local cpu, began = cbench.cpu(), cbench.wall()
  rounds(n)
  return cbench.wall() - began, cbench.cpu() - cpu
end)

-- Compiles all the time: a trace for each function, which is called once. The
-- protection of machine code is changed twice for each.
local truth = require("truth")

local text = "local n = 0 for i = 1, 60 do n = n + i * %d end return n"
local made = 0

local function compile(n)
  for _ = 1, n do
    made = made + 1
    loadstring(text:format(made))()
    if made % 400 == 0 then jit.flush() end
  end
end

truth.measure({ { "compile", 10, compile } })

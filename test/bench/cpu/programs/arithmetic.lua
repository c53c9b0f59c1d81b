-- Small functions that are inlined and cannot leave the trace: nothing says
-- where one ends and the next begins.
local measure = require("inlined")

local function main()
  measure(("x = x * 0.999 + 1.5 x = x * 0.998 + 2.5 "):rep(3))
end

main()

-- Small functions that are inlined, with branches: each step waits for memory,
-- can leave the trace, and leaves something behind.
local measure = require("inlined")

local next_of, seen = {}, {}
for i = 1, 1024 do next_of[i] = (i * 5 + 3) % 1024 + 1 end

local function main()
  measure("x = u[u[u[u[x]]]] if x > 1024 then return 1 end v[x % 4] = x", next_of, seen)
end

main()

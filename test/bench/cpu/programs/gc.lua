-- Most of the time goes to the garbage collector, in steps of whoever makes
-- garbage: tables, strings, closures.
local truth = require("truth")

local kept = {}
for i = 1, 2e4 do kept[i] = { i, tostring(i) } end

local function tables50(n)
  for i = 1, n do kept[i % 2e4 + 1] = { i, { i } } end
end

local function strings30(n)
  for i = 1, n do kept[i % 2e4 + 1] = "s" .. i end
end

local function closures20(n)
  for i = 1, n do kept[i % 2e4 + 1] = function() return i end end
end

local function main()
  truth.measure({
    { "tables50", 5, tables50, line = 1 }, { "strings30", 3, strings30, line = 1 },
    { "closures20", 2, closures20, line = 1 },
  })
end

truth.chain("main", "tables50")
truth.chain("main", "strings30")
truth.chain("main", "closures20")
main()

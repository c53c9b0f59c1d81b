-- A C module that is loaded when the program has run for a second: half of the
-- time is spent below its code.
local truth = require("truth")

local path = assert(package.searchpath("late", package.cpath))
local late

local function early50(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function late50(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

-- The first second of the measured part has no module yet.
local loads = os.clock() + 1.1
local function enter50(n)
  if late then
    late(late50, n)
  elseif os.clock() > loads then
    late = assert(package.loadlib(path, "cb_late"))
  end
  return n
end

local function main()
  truth.measure({
    { "early50", 5, early50 }, { "late50", 5, late50, call = enter50, calibrate = late50 },
  })
end

truth.chain("main", "early50")
truth.chain("main", "enter50", "c:cb_late", "late50")
main()

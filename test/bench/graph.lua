-- Dumps a heap of N tables. Each refers to three others, and one that holds all
-- refers to it: four references an object. They are among the 64 that were made
-- before it (near, as most are in real heaps), or anywhere (random). Or they are
-- near and another table holds all, too: both keep them together (shared).
--
--   luajit graph.lua N FILE near|random|shared

local n, file, kind = tonumber(arg[1]), arg[2], arg[3]
local near = kind ~= "random"

collectgarbage("stop")
math.randomseed(1)
local random = math.random
ALL = {}
for i = 1, n do ALL[i] = { 0, 0, 0 } end
for i = 1, n do
  local t = ALL[i]
  for k = 1, 3 do t[k] = ALL[near and math.max(i - random(64), 1) or random(n)] end
end
if kind == "shared" then
  INDEX = {}
  for i = 1, n do INDEX[i] = ALL[i] end
end
assert(misc.memprof.dump(file))
os.exit(0)

-- Lines of one loop that take 60, 30 and 10 percent: they do the same thing 6,
-- 3 and 1 times, each waiting for the one before. That is so on a trace only:
-- the interpreter takes its time for all else, too. For that is lines.lua.
local truth = require("truth")

local go, seen = {}, {}
for i = 1, 1024 do go[i] = (i * 5 + 3) % 1024 + 1 end

local function walk(n)
  local x = 1
  for _ = 1, n do
    x = go[go[go[go[go[go[go[go[go[go[go[go[go[go[go[go[go[go[x]]]]]]]]]]]]]]]]]] seen[1] = x
    x = go[go[go[go[go[go[go[go[go[x]]]]]]]]] seen[2] = x
    x = go[go[go[x]]] seen[3] = x
  end
  return x
end

local function main()
  local first = debug.getinfo(walk, "S").linedefined
  truth.measure({
    { "walk", 10, walk, lines = jit.status() and {
      [first + 3] = 0.6, [first + 4] = 0.3, [first + 5] = 0.1,
    } or {} },
  })
end

truth.chain("main", "walk")
main()

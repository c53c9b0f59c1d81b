-- Lines of which both is known: how much CPU time they take, and what they
-- allocate. Besides what truth.lua prints:
--
--   truth memory LINE ALLOCATIONS BYTES LIVE    of the innermost Lua frame
--
-- JOINT_OUT is the recording to make of the measured part; without it there is
-- none.
local truth = require("truth")

local out = os.getenv("JOINT_OUT")
local made = { tables = 0, strings = 0, closures = 0 } -- How many by now.

-- What was made last is held here, where traces cannot remove it.
local RING = 64
local rings = {}
for kind in pairs(made) do
  rings[kind] = {}
  for i = 1, RING do rings[kind][i] = false end
end

-- So many strings are held that the VM's own table of strings, which is large
-- enough for twice as many, neither grows nor shrinks while it is measured.
local held = {}
for i = 1, 40000 do held[i] = "held" .. i end
for i = 20001, 40000 do held[i] = nil end
collectgarbage()

-- The VM's list of traces grows where one begins, on that line: now, to more
-- than there will be.
for _ = 1, 100 do
  assert(loadstring("local x = 0 for i = 1, 1000 do x = x + i end"))()
end

local function burn(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function tables(n)
  local ring, at = rings.tables, made.tables
  for i = at + 1, at + n do ring[i % RING + 1] = { i, i, i } end
  made.tables = at + n
end

local function strings(n)
  local ring, at, format = rings.strings, made.strings, string.format
  for i = at + 1, at + n do ring[i % RING + 1] = format("a string, %012d", i) end
  made.strings = at + n
end

-- These two are never compiled.
local function closures(n)
  local ring, at = rings.closures, made.closures
  for i = at + 1, at + n do ring[i % RING + 1] = function() return i end end
  made.closures = at + n
end

local function collect(n)
  local gc = collectgarbage
  for _ = 1, n do gc("collect") end
end

-- Bytes that fn(1) allocates, by the VM's own count.
local function size_of(fn)
  jit.off()
  collectgarbage("stop")
  fn(2 * RING) -- Buffers of the VM are as large as they will be.
  local before = collectgarbage("count")
  fn(RING)
  local size = (collectgarbage("count") - before) * 1024 / RING
  collectgarbage("restart")
  return size
end

local kinds = {
  { "tables", tables, 1 }, { "strings", strings, 1 }, { "closures", closures, 2 }, -- With its upvalue.
}
local jitted = jit.status()
for _, kind in ipairs(kinds) do kind.size = size_of(kind[2]) end
if jitted then jit.on() end

-- For truth.lua: everything is prepared.
function ready()
  for kind in pairs(rings) do
    for i = 1, RING do rings[kind][i] = false end
  end
  for _, kind in ipairs(kinds) do kind.before = made[kind[1]] end
  collectgarbage()
  if out then
    assert(misc.memprof.start(out, { stack = 64 }))
  end
end

local function main()
  truth.measure({
    { "burn", 16, burn }, { "tables", 8, tables }, { "strings", 8, strings }, { "closures", 4, closures },
    { "collect", 4, collect },
  })
  for _, kind in ipairs(kinds) do
    local line, n = debug.getinfo(kind[2], "S").linedefined + 2, made[kind[1]] - kind.before
    print(table.concat({ "truth memory", line, n * kind[3], n * kind.size, RING * kind.size }, " "))
  end
end

main()
if out then
  collectgarbage()
  assert(misc.memprof.stop())
end

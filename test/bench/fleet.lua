-- One of many hosts: the same program, other requests.
--
--   luajit fleet.lua RECORDING SEED

math.randomseed(tonumber(arg[2]))
assert(misc.memprof.start(arg[1], { stack = 64 }))

local function leaf(n) return { n, tostring(n) .. "x" } end
local function pair(n) return { leaf(n), leaf(n + 1) } end

local function deep(n)
  if n == 0 then return pair(1) end
  local t = { deep(n - 1) }
  return t
end

local keep = {}
for _ = 1, 2000 do keep[math.random(1000)] = deep(math.random(30)) end

assert(misc.memprof.stop())

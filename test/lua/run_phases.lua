-- Runs the collector in its smallest steps, over all that it treats in its own
-- way, with a heap dump after many of them, or with a call that does nothing
-- instead; then prints what there was to be seen of it. The last argument is for
-- dumps.
--
--   luajit run_phases.lua SEED FILE on|off on|off
--
-- Dumps of the first cycle are kept in FILE.1, FILE.2 and so on.

local seed, file, jit_mode, mode = unpack(arg)
local has_ffi, ffi = pcall(require, "ffi")
if jit_mode == "off" then jit.off() else jit.opt.start("hotloop=5", "hotexit=3") end
-- No branch, and no string that a VM does not have from the beginning: neither
-- what is compiled nor where keys have their places must depend on the mode.
local act = ({ on = misc.memprof.dump, off = misc.memprof.is_running })[mode]
local collect = collectgarbage
local ROUNDS, KEPT = 60, 50

local state = tonumber(seed)
local function random(n)
  state = state * 16807 % 2147483647
  return state % n + 1
end

-- What the program can see is one number: the order of finalizers, what weak
-- tables have lost, the bytes in use after each step.
local seen, events = 0, 0
local function see(n)
  seen = (seen * 31 + n) % 4294967296
end

local finalized = 0
local back = {} -- What finalizers have brought back.
local weak = {}
for i, modes in ipairs({ "k", "v", "kv", "k" }) do weak[i] = setmetatable({}, { __mode = modes }) end

local function finalizer(id)
  return function(o)
    finalized, events = finalized + 1, events + 1
    see(id)
    if id % 5 == 0 then back[id % 7 + 1] = o end
  end
end

local make = {
  function(id) return { id, { id }, name = id } end,
  function(id)
    local u = newproxy(true)
    getmetatable(u).__gc = finalizer(id)
    return u
  end,
  function(id) -- An upvalue that is open, in a thread that waits.
    local co = coroutine.create(function(a)
      local b = { a }
      weak[4][b] = function() return b, id end
      while true do b = { coroutine.yield(b) } end
    end)
    coroutine.resume(co, {})
    return co
  end,
  function(id)
    local n = { id }
    return function() n[1] = n[1] + 1 return n end
  end,
  function(id) return ("text %d "):format(id):rep(random(9)) end,
  function(id) return loadstring("local a = ... return a + " .. id .. ", 'chunk " .. id .. "'") end,
}
if has_ffi then
  make[#make + 1] = function(id) return ffi.gc(ffi.new("int[4]"), finalizer(id)) end
  make[#make + 1] = function(id) return ffi.gc(ffi.gc(ffi.new("int[?]", id % 9 + 1), finalizer(id)), nil) end
  make[#make + 1] = function() return ffi.new("double[2]") end
end

local kept = {}
local function mutate(id)
  local o = make[random(#make)](id)
  local at = random(KEPT)
  if type(kept[at]) == "thread" and random(2) == 1 then
    coroutine.resume(kept[at], o)
  else
    kept[at] = o
  end
  weak[1][o] = { id }
  weak[2][random(KEPT)] = o
  weak[3][o] = kept[random(KEPT)] or id
end

local function total()
  local sum = 0
  for i = 1, KEPT do
    local o = kept[i]
    if type(o) == "function" then o = o(1) end
    sum = sum + (type(o) == "table" and o[1] or 1)
  end
  return sum
end

local NAMES = 400
local names = {}
for i = 1, NAMES do names[i] = file .. "." .. i end
local cycles, results, dumps = 0, 0, 0

local function step()
  local before, name = events, file
  if collect("step", 0) then
    cycles = cycles + 1
  elseif cycles == 0 and dumps < NAMES then
    name = names[dumps + 1]
  end
  if random(cycles == 0 and 5 or 24) == 1 or events ~= before then
    dumps = dumps + 1
    results = results + select("#", act(name)) -- One, or three if it fails.
  end
  see(collect("count") * 1024)
end

collect()
collect("setstepmul", 1)
for id = 1, ROUNDS do
  for i = 1, 4 do mutate(id * 4 + i) end
  see(total())
  for _ = 1, 200 do step() end
end
for i = 1, 4 do
  local n = 0
  for _ in pairs(weak[i]) do n = n + 1 end
  print(("weak table %d: %d"):format(i, n))
end
print(("%d finalizers, %d dumps"):format(finalized, dumps))
print(("seen: %.0f"):format(seen))
print(("%d cycles, %d failures, %.0f bytes"):format(cycles, results - dumps, collect("count") * 1024))

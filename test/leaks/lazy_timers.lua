-- An editor has 26,964 timers after 13 days:
-- https://github.com/folke/lazy.nvim/pull/2171
--
-- A timer that is stopped, but not closed, keeps its callback in the registry;
-- that keeps a process with all that it has printed.
--
-- SAYS: is kept by registry, a table
-- SAYS: 2000 x function lazy_timers.lua
-- SAYS: 2000 x table Process

local registry, refs = debug.getregistry(), 0

local function new_timer(callback)
  refs = refs + 1
  registry["uv_timer " .. refs] = callback
  return {stop = function() end}
end

local Process = {}
Process.__index = Process

function Process:guard()
  self.timeout = new_timer(function() self.killed = true end)
end

local function spawn(command)
  local process = setmetatable({command = command, output = ""}, Process)
  process:guard()
  for i = 1, 10 do
    process.output = process.output .. command .. " line " .. i .. "\n" -- GUILTY
  end
  process.timeout.stop()
end

for i = 1, 2000 do spawn("git " .. i) end
dump()

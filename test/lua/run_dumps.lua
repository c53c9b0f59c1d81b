-- Runs a program in which each cycle of the collector ends with a heap dump, or
-- with a call that does nothing instead; then prints how many cycles there were
-- and how much memory is in use.
--
--   luajit run_dumps.lua PROGRAM FILE on|off dump|idle
--
-- Both run with the same strings: one more would shift the collector's cycles.

local program, file, jit_mode, mode = unpack(arg)
if jit_mode == "off" then jit.off() end
assert(mode == "dump" or mode == "idle")
arg = { [0] = program }
local act = mode == "dump" and misc.memprof.dump or misc.memprof.is_running
local cycles, failed = 0, 0

local function watch()
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function()
    cycles = cycles + 1
    if not act(file) and mode == "dump" then failed = failed + 1 end
    watch()
  end
end
watch()
dofile(program)
print(("%d cycles, %d failures, %.0f bytes"):format(cycles, failed, collectgarbage("count") * 1024))

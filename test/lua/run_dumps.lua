-- Runs a program in which each cycle of the collector ends with a heap dump, or
-- with a call that does nothing instead; then prints how many cycles there were
-- and how much memory is in use. The last argument is for dumps.
--
--   luajit run_dumps.lua PROGRAM FILE on|off on|off
--
-- Both run with the same strings: one more would shift the collector's cycles.

local program, file, jit_mode, mode = unpack(arg)
if jit_mode == "off" then jit.off() end
arg = { [0] = program }
-- No branch, and no string that a VM does not have from the beginning: neither
-- what is compiled nor where keys have their places must depend on the mode.
local act = ({ on = misc.memprof.dump, off = misc.memprof.is_running })[mode]
local cycles, results = 0, 0

local function watch()
  local proxy = newproxy(true)
  getmetatable(proxy).__gc = function()
    cycles = cycles + 1
    results = results + select("#", act(file)) -- One, or three if it fails.
    watch()
  end
end
watch()
dofile(program)
print(("%d cycles, %d failures, %.0f bytes"):format(cycles, results - cycles, collectgarbage("count") * 1024))

-- A program runs as if there were no dumps: the same output, the same number of
-- cycles of the collector, the same memory in use at the end.

local H = require("harness")

local here = arg[4]
local path = H.path()

-- Where things are in memory decides on the order of some tables, and on what is
-- compiled: without chance, both runs are the same.
local fixed = os.execute("setarch -R true 2> /dev/null") == 0
if (os.getenv("LJPROF_EMULATOR") or "") ~= "" then fixed = false end

local function run(program, jit_mode, mode)
  local cmd = H.command(H.luajit, here .. "/run_dumps.lua", here .. "/programs/" .. program .. ".lua",
                        path, jit_mode, mode)
  if fixed then cmd = "setarch -R " .. cmd end
  local p = assert(io.popen(cmd .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return out:match("^(.-)([^\n]* cycles, [^\n]*\n)$")
end

-- In the others the hashes of strings, which chance has a part in, shift cycles.
local exact = { trees = true, closures = true }

-- Output and counts with dumps, and without. Chance may differ once.
local function both(program, jit_mode)
  local out, counts, plain, expected
  for _ = 1, 3 do
    os.remove(path)
    out, counts = run(program, jit_mode, "dump")
    plain, expected = run(program, jit_mode, "idle")
    if counts == expected then break end
  end
  return out, counts, plain, expected
end

for _, program in ipairs({ "trees", "strings", "closures", "json", "coroutines", "build" }) do
  for _, jit_mode in ipairs(H.has_jit and { "off", "on" } or { "off" }) do
    H.case(("%s, JIT %s"):format(program, jit_mode), function()
      local out, counts, plain, expected = both(program, jit_mode)
      H.ok(counts and tonumber(counts:match("^%d+")) >= 2, "%s", tostring(counts))
      H.ok(counts and counts:find(" 0 failures", 1, true), "%s", tostring(counts))
      H.eq(out, plain, "output")
      if fixed and exact[program] and jit_mode == "off" then
        H.eq(counts, expected, "cycles, and bytes at the end")
      end
    end)
  end
end

os.remove(path)
H.done()

-- A program runs as if there were no dumps: the same output, the same number of
-- cycles of the collector, the same memory in use at the end.

local H = require("harness")
local dump = require("dump")

local here = arg[0]:match("^(.*)/cases/")
local path = H.path()

-- Where things are in memory, and how strings hash, decides on the order of
-- tables, and on what is compiled: without chance, both runs are the same. The
-- library takes it from the VM; a sanitizer or an emulator cannot have it.
local preload = os.getenv("LJPROF_FIXED")
local fixed = preload ~= nil and os.execute("setarch -R true 2> /dev/null") == 0 and
              (os.getenv("LJPROF_EMULATOR") or "") == ""

-- What a script prints, and the counts at its end.
local function run(script, what, jit_mode, mode)
  local cmd = H.command(H.luajit, here .. "/" .. script, what, path, jit_mode, mode)
  if fixed then cmd = ("LD_PRELOAD=%s setarch -R %s"):format(H.quote(preload), cmd) end
  local p = assert(io.popen(cmd .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return out:match("^(.-)([^\n]* cycles, [^\n]*\n)$")
end

-- Output and counts with dumps, and without. What chance is left differs from
-- run to run: the same counts must come up with dumps and without.
local function both(...)
  local out, counts, plain, expected
  local seen = { dump = {}, idle = {} }
  for _ = 1, fixed and 1 or 4 do
    os.remove(path)
    local args = { ... }
    args[4] = "on"
    out, counts = run(unpack(args, 1, 4))
    args[4] = "off"
    plain, expected = run(unpack(args, 1, 4))
    seen.dump[tostring(counts)], seen.idle[tostring(expected)] = true, true
    for each in pairs(seen.dump) do
      if seen.idle[each] then return out, each, plain, each end
    end
  end
  return out, counts, plain, expected
end

local modes = H.has_jit and { "off", "on" } or { "off" }

-- A program whose OUTPUT has what chance decides on is compared without chance.
local function compare(cycles, output, ...)
  local out, counts, plain, expected = both(...)
  H.ok(counts and tonumber(counts:match("^%d+")) >= cycles, "%s", tostring(counts))
  H.ok(counts and counts:find(" 0 failures", 1, true), "%s", tostring(counts))
  H.ok(out ~= "" and out, "the output is %s", tostring(out))
  if fixed or output ~= "chance" then H.eq(out, plain, "output") end
  if fixed then H.eq(counts, expected, "cycles, and bytes at the end") end
  return out
end

for _, program in ipairs({ "trees", "strings", "closures", "json", "coroutines", "build" }) do
  for _, jit_mode in ipairs(modes) do
    H.case(("%s, JIT %s"):format(program, jit_mode), function()
      compare(2, "same", "run_dumps.lua", here .. "/programs/" .. program .. ".lua", jit_mode)
    end)
  end
end

-- Adds the phases of the first cycle's dumps, of which some are checked.
local function phases(found)
  local n = 0
  for i = 400, 1, -1 do
    local name = path .. "." .. i
    local f = io.open(name, "rb")
    if f then
      f:close()
      n = n + 1
      if n % 16 == 1 or not found.sweep then
        H.jit_switch(H.decoder_jit)
        local d = dump.read(name, true)
        H.eq(table.concat(dump.faults(d), "\n"), "", "faults of dump %d", i)
        H.jit_switch(H.jit)
        found[dump.phases[d.sums.phase]] = true
      end
      os.remove(name)
    end
  end
end

-- The collector goes in single steps, over weak tables, finalizers, threads and
-- cdata. What the program sees of it is its output.
for _, jit_mode in ipairs(modes) do
  local found = {}
  for _, seed in ipairs({ "1", "2", "3" }) do
    H.case(("single steps, %s, JIT %s"):format(seed, jit_mode), function()
      local out = compare(2, "chance", "run_phases.lua", seed, jit_mode)
      H.ok(tonumber((out or ""):match("(%d+) finalizers") or 0) > 10, "%s", tostring(out))
      phases(found)
    end)
  end
  H.case("every phase, JIT " .. jit_mode, function()
    for _, phase in ipairs({ "propagate", "sweepstring", "sweep" }) do
      H.ok(found[phase], "no dump in phase %s", phase)
    end
  end)
end

os.remove(path)
os.remove(path .. ".old")
H.done()

-- What the compiler does with random programs: if that is little, a hunt in
-- which nothing fails proves nothing. See hunt.lua.

local jutil = require("jit.util")
local vmdef = require("jit.vmdef")

local function name(op)
  return (vmdef.bcnames:sub(op * 6 + 1, op * 6 + 6):gsub(" ", ""))
end

-- Sorted text of a set of counts.
local function list(counts, more)
  local out = {}
  for key, n in pairs(counts) do out[#out + 1] = more and n .. " " .. key or key end
  table.sort(out, function(a, b)
    if more then return tonumber(a:match("%d+")) > tonumber(b:match("%d+")) end
    return a < b
  end)
  return #out, table.concat(out, more and "\n  " or " ")
end

-- Counts what goes on while the programs run in a mode.
local function measure(programs, mode)
  local c = { start = 0, stop = 0, abort = 0, exits = 0, side = 0, snaps = 0, ops = {}, links = {},
    reasons = {} }
  local ops = c.ops
  local function on_trace(what, tr, _, _, otr, oex)
    if what == "start" then
      c.start = c.start + 1
      if otr and oex and oex >= 0 then c.side = c.side + 1 end
    elseif what == "stop" then
      c.stop = c.stop + 1
      local info = jutil.traceinfo(tr)
      c.snaps = c.snaps + info.nexit
      c.links[info.linktype] = (c.links[info.linktype] or 0) + 1
    elseif what == "abort" then
      c.abort = c.abort + 1
      local reason = vmdef.traceerr[otr] or otr
      if type(reason) == "string" then c.reasons[reason] = (c.reasons[reason] or 0) + 1 end
    end
  end
  local function on_record(_, fn, pc)
    if pc < 0 then return end
    local ins = jutil.funcbc(fn, pc)
    if ins then ops[bit.band(ins, 255)] = true end
  end
  local function on_exit() c.exits = c.exits + 1 end
  for _, fn in ipairs({ on_trace, on_record, on_exit }) do jit.off(fn, true) end
  jit.attach(on_trace, "trace")
  jit.attach(on_record, "record")
  jit.attach(on_exit, "texit")
  for _, p in ipairs(programs) do p.run(mode) end
  for _, fn in ipairs({ on_trace, on_record, on_exit }) do jit.attach(fn) end
  local named = {}
  for op in pairs(ops) do named[name(op)] = 1 end
  c.nops, c.ops = list(named)
  return c
end

-- Prints it for two modes, and says whether it is enough.
return function(first, count, gen, run, settings, exact, natural)
  local programs = {}
  for seed = first, first + count - 1 do
    local source = gen.program(seed, (pcall(require, "ffi")))
    programs[#programs + 1] = { run = function(mode) run(source, seed, mode, settings(seed)) end }
  end
  local e, n = measure(programs, exact), measure(programs, natural)
  for _, c in ipairs({ e, n }) do
    print(string.format(
      "%s lines: %d programs, %d traces (%d aborted), %d began at exits, %.1f snapshots each, %d exits taken",
      c == e and "exact" or "natural", count, c.stop, c.abort, c.side, c.snaps / c.stop, c.exits))
  end
  print("how traces end:\n  " .. select(2, list(e.links, true)))
  print("why recording was aborted:\n  " .. select(2, list(e.reasons, true)))
  print(string.format("%d bytecodes recorded: %s", e.nops, e.ops))
  if e.stop < 10 * count or e.nops < 60 or e.snaps / e.stop < 1.2 * n.snaps / n.stop then
    print("This is too little to prove anything.")
    os.exit(1, true)
  end
end

-- Heap dumps in each phase of the collector, and what is about to be freed.

local H = require("harness")
local dumping = require("dumping")
local dump = require("dump")
local memprof = misc.memprof
local slurp = require("decode").slurp
local T, path = dumping.T, dumping.path

H.case("each phase of the collector", function()
  dumping.forget()
  collectgarbage()
  local mul = collectgarbage("setstepmul", 1)
  local pause = collectgarbage("setpause", 100)
  local seen, kept, last, nth, nphases = {}, {}, nil, 0, 0
  local weak = setmetatable({}, { __mode = "kv" })
  for i = 1, 20 do -- Garbage of all types, and what waits for a finalizer.
    local u = newproxy(true)
    getmetatable(u).__gc = function() nth = nth + 1 end
    weak[i], weak[{}] = u, {}
    local co = coroutine.create(function(...) local x = { ... } coroutine.yield(function() return x end) end)
    coroutine.resume(co, u, {})
    loadstring("return function() return 'phase" .. i .. "' end", "=phase" .. i % 3)()
  end
  H.off(function()
    for i = 1, 1e5 do
      memprof.dump(path, { strings = i % 2 })
      local sums = dumping.sums_of(path)
      local phase = dump.phases[sums[8]]
      if not seen[phase] then nphases = nphases + 1 end
      seen.garbage = seen.garbage or sums[4] > 0
      seen[phase] = (seen[phase] or 0) + 1
      if phase ~= last or i % 100 == 0 then kept[#kept + 1] = slurp(path) end
      last = phase
      if nphases == 5 and nth == 20 then break end
      collectgarbage("step", 0)
    end
  end)()
  collectgarbage("setstepmul", mul)
  collectgarbage("setpause", pause)
  -- Not before, as the collector would have to look at what the decoder makes.
  H.jit_switch(H.decoder_jit)
  for _, data in ipairs(kept) do
    local d = dump.decode(data, true)
    local phase = dump.phases[d.sums.phase]
    H.eq(dump.faults(d)[1], nil, "faults in the phase %s", phase)
    H.eq(d.sums.making, 0, "bytes in the making in the phase %s", phase)
  end
  H.jit_switch(H.jit)
  for i = 0, 5 do -- No Lua code runs in the atomic phase: the VM passes it in one step.
    H.ok(i == 2 or seen[dump.phases[i]], "no dump in the phase %s", dump.phases[i])
  end
  H.ok(seen.garbage, "no garbage was seen")
  H.eq(nth, 20, "finalizers")
  dumping.take()
end)

-- What is about to be freed ------------------------------------------------------

H.case("a chunk's name behind a prototype that is garbage", function()
  -- They have the same chunk, and are neighbours in the collector's list.
  dumping.forget()
  local mul = collectgarbage("setstepmul", 1)
  for round = 1, 30 do
    local keep = {}
    for i = 1, 40 do
      local f = loadstring("return 1", "=neighbours")
      if i % 2 == round % 2 then keep[#keep + 1] = f end
    end
    collectgarbage("step", 0)
    T.keep = keep
    local swept, kept = false, {}
    for _ = 1, 40 do
      collectgarbage("step", 30)
      memprof.dump(path)
      kept[#kept + 1] = slurp(path)
      local garbage = dumping.sums_of(path)[4]
      swept = swept or garbage > 0
      if swept and garbage == 0 then break end
    end
    for i, data in ipairs(kept) do
      local d, named = dump.decode(data, true), 0
      for _, o in ipairs(d.list) do
        if o.type == "proto" and not o.garbage then
          H.ok(o.chunk ~= "", "the chunk of a prototype is empty")
          named = named + (o.chunk == "=neighbours" and 1 or 0)
        end
      end
      H.ok(named >= #keep, "%d prototypes of the chunk, expected %d", named, #keep)
      kept[i] = ""
    end
    collectgarbage()
    if round > 3 and swept then break end
  end
  T.keep = nil
  collectgarbage("setstepmul", mul)
end)

os.remove(path)
os.remove(path .. ".old")
H.done()

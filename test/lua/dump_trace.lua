-- Heap dumps that an allocation on a trace has caused: the stack is that of the
-- frame that the trace has entered, values may be in registers alone.

local H = require("harness")
local dump = require("dump")
local memprof = misc.memprof

local stream, heap = H.path(".ljm"), H.path(".ljd")

-- Allocates in small pieces up to so many bytes, and returns what keeps them.
local function fill(upto)
  local t
  while H.count() < upto do t = { t } end
  return t
end
H.off(fill)

-- The frames of the current thread in a dump, from the top.
local function frames_of(d)
  local frames = {}
  for _, ref in ipairs(dump.root(d, "current thread").refs) do
    if ref.kind == "frame" then
      local fn = d.at[ref.to]
      local pt = fn and dump.first(d, fn, "proto")
      frames[#frames + 1] = { line = ref.line, fn = fn, defined = pt and pt.first, named = {} }
    elseif ref.kind == "slot" and frames[1] and ref.name then
      frames[#frames].named[ref.name] = d.at[ref.to]
    end
  end
  return frames
end

-- Calls work twice, so that it is compiled, and then so that it allocates the
-- byte at which the recording takes a dump.
local function try(work)
  if H.has_jit then jit.flush() end
  collectgarbage()
  collectgarbage("stop")
  local limit = H.count() + 2e6
  assert(memprof.start(stream, { dump_at_limit = limit, buffer = 65536 }))
  work()
  work()
  local pad = fill(limit - 3000)
  work()
  assert(memprof.stop())
  collectgarbage("restart")
  H.jit_switch(H.decoder_jit)
  local d = dump.read(heap)
  os.remove(heap)
  os.remove(stream)
  H.jit_switch(H.jit)
  return d, frames_of(d), pad
end
H.off(try)

-- A dump that a function has caused, and the frames in it. Which loop a trace
-- begins with, and whether one is compiled at all, is up to chance.
local function limited(work, top)
  local line = debug.getinfo(top or work, "S").linedefined
  local d, frames, tries = nil, nil, 0
  repeat
    d, frames = try(work)
    tries = tries + 1
    H.eq(table.concat(dump.faults(d), "; "), "", "faults of the dump")
    H.eq(d.sums.making, 0, "bytes without an owner")
  until not H.jit or tries == 20 or d.sums.flags == 1 and frames[1].defined == line
  H.eq(d.sums.flags, H.jit and 1 or 0, "flags: something is in registers")
  return d, frames
end
H.off(limited)

local function here()
  return debug.getinfo(2, "l").currentline
end
H.off(here)

-- The caller of work() is this program's main chunk, or what runs a case.
local function check_top(d, f, line)
  H.eq(f[1].line, line, "line of the function on top")
  H.ok(f[1].fn and f[1].fn.type == "function", "no function is on top")
  H.ok(f[2] and f[2].fn, "no function has called it")
  H.ok(f[2].named.limit == nil and f[2].named.work == f[1].fn, "its caller has other variables")
  H.eq(dump.root(d, "current thread").type, "thread", "the current thread")
end

H.case("a stale base, above numbers", function()
  local keep, line = {}
  local d, f = limited(function()
    local n = 3000
    local x = ("a"):rep(5) -- A C function: L->base is its frame, above this one.
    local a, b, c, e, g, h = 1.5, 1.5, 1.5, 1.5, 1.5, 1.5 -- These lie there now.
    line = here() + 1
    for i = 1, n do keep[i % 2000] = { i, x } end
    return x, a + b + c + e + g + h
  end)
  check_top(d, f, line)
  H.eq(f[1].named.x and f[1].named.x.text, "aaaaa", "a variable that does not change")
end)

H.case("a variable that changes has no name", function()
  local line
  local d, f = limited(function()
    local same, last = { "same" }, { "before" }
    line = here() + 2
    for i = 1, 3000 do
      last = { last and i, "in a trace" }
    end
    return same, last
  end)
  check_top(d, f, line)
  H.eq(f[1].named.same and f[1].named.same.type, "table", "a variable that does not change")
  H.eq(f[1].named.last == nil, H.jit, "a variable in a register has a name")
end)

H.case("a function that is inlined", function()
  local line
  local function node(i) return { i, { i } } end
  local d, f = limited(function()
    local list = {}
    line = here() + 2
    for i = 1, 3000 do
      list[i % 100 + 1] = node(i)
    end
    return list
  end)
  if not H.jit then table.remove(f, 1) end
  check_top(d, f, line)
  H.eq(f[1].named.list and f[1].named.list.type, "table", "the list")
end)

H.case("a coroutine, below it the one that resumed it", function()
  local line
  local function body()
    local kept = { "kept" }
    while true do
      line = here() + 1
      for i = 1, 3000 do kept[i % 50 + 1] = { i } end
      coroutine.yield()
    end
  end
  local d, f = limited(coroutine.wrap(body), body)
  H.eq(f[1].line, line, "line of the coroutine")
  H.eq(f[1].named.kept and f[1].named.kept.type, "table", "its variable")
  H.ok(not dump.root(d, "current thread").main, "the main thread is on top")
  local main = dump.root(d, "main thread")
  H.ok(dump.first(d, main, "frame"), "the main thread has no frames")
end)

-- Recursion, side traces, many of them: a dump at each doubling, from a limit
-- that is elsewhere in each round.
H.case("wherever a tree is built", function()
  local function tree(depth)
    if depth == 0 then return { false, "leaf" } end
    return { tree(depth - 1), depth % 3 == 0 and tree(depth - 2) or tostring(depth) }
  end
  local seen, round = 0, 0
  repeat
    round = round + 1
    if H.has_jit then jit.flush() end
    collectgarbage()
    collectgarbage()
    assert(memprof.start(stream, { dump_at_limit = H.count() + 20000 + 977 * round, buffer = 65536 }))
    local keep = {}
    for i = 1, 400 do keep[i] = tree(i % 9) end
    assert(memprof.stop())
    H.jit_switch(H.decoder_jit)
    local d = dump.read(heap)
    H.jit_switch(H.jit)
    H.eq(table.concat(dump.faults(d), "; "), "", "faults of the dump")
    H.ok(d.sums.making >= 0, "%d bytes are missing", -d.sums.making)
    seen = seen + d.sums.flags
    os.remove(heap)
    for i = 2, 9 do os.remove(H.path("." .. i .. ".ljd")) end
  until round == (H.jit and 60 or 12) or seen == 6
  os.remove(stream)
  H.ok(not H.jit or seen > 0, "no dump was taken on a trace")
end)

H.done()

-- Memory outside of the VM's count: what C modules take from lua_getallocf().
--
--   luajit cases/foreign.lua FORMAT on|off DIRECTORY MODULE

local H = require("harness")
local take = assert(package.loadlib(arg[4], "luaopen_cmod"))().take

-- The VM's own count takes part in every check: see H.check_books().

-- The foreign events of a stream.
local function foreign_of(s)
  return H.find(s, { foreign = true })
end

-- Checks kinds and sizes of all foreign events: "alloc 0 100", one a line.
local function check_events(s, ...)
  if not H.compact then return end
  local want = { ... }
  local list = foreign_of(s)
  H.eq(#list, #want, "number of foreign events")
  for i, e in ipairs(list) do
    H.eq(("%s %d %d"):format(e.kind, e.osize, e.nsize), want[i], "foreign event %d", i)
    if e.kind == "alloc" then H.eq(e.type, "foreign", "type of event %d", i) end
    H.eq(e.site.source, "c", "source of event %d", i)
  end
end

H.case("one block stays", function()
  local p
  local s = H.record(function() p = take(nil, 0, 1000) end, { foreign = 1000 })
  check_events(s, "alloc 0 1000")
  take(p, 1000, 0)
end)

H.case("a life in a row, and between objects", function()
  for _, between in ipairs({ function() end, function() return {}, newproxy() end }) do
    local s = H.record(function()
      local p = take(nil, 0, 24)
      between()
      p = take(p, 24, 48)
      between()
      p = take(p, 48, 48)
      between()
      p = take(p, 48, 16)
      between()
      take(p, 16, 0)
      between()
    end, { foreign = 0 })
    check_events(s, "alloc 0 24", "realloc 24 48", "realloc 48 48", "realloc 48 16", "free 16 0")
  end
end)

H.case("many in a row", function()
  local s = H.record(function()
    local a, b = take(nil, 0, 100), take(nil, 0, 100)
    local c = take(nil, 0, 40)
    take(a, 100, 0)
    take(b, 100, 0)
    take(c, 40, 0)
  end, { foreign = 0 })
  check_events(s, "alloc 0 100", "alloc 0 100", "alloc 0 40", "free 100 0", "free 100 0",
               "free 40 0")
end)

H.case("older than the recording", function()
  local a, b, c = take(nil, 0, 1000), take(nil, 0, 2000), take(nil, 0, 3000)
  local s = H.record(function()
    take(a, 1000, 0)
    b = take(b, 2000, 500)
    take(c, 3000, 0)
    take(b, 500, 0)
  end, { foreign = -6000 })
  check_events(s, "free 1000 0", "realloc 2000 500", "free 3000 0", "free 500 0")
end)

-- The old formats have what the module says.
if H.compact then
  H.case("a module that does not keep sizes", function()
    local s = H.record(function()
      local p = take(nil, 0, 100)
      p = take(p, 0, 300)
      take(p, 0, 0)
    end, { foreign = 0 })
    check_events(s, "alloc 0 100", "realloc 100 300", "free 300 0")
  end)
end

H.case("by a finalizer", function()
  local s = H.record(function()
    for i = 1, 20 do
      local p, u = take(nil, 0, 64 + i), newproxy(true)
      getmetatable(u).__gc = function() take(p, 64 + i, 0) end
    end
    collectgarbage()
    collectgarbage()
  end, { foreign = 0 })
  if H.compact then
    H.eq(s.foreign.alloc, 20, "allocations")
    H.eq(s.foreign.free, 20, "deallocations")
  end
end)

-- The VM's own: a reallocation to nothing, which it counts afterwards. That none
-- of its events is taken for foreign, check_books() sees.
if H.compact then
  H.case("arrays that shrink to nothing", function()
    H.record(function()
      for n = 20, 400, 20 do
        local t = {}
        for i = 1, n do t[i] = i end
        for i = 1, n do t[i] = nil end
        for i = 1, 4 do t["k" .. i] = i end
      end
    end)
  end)
end

-- Any order: the sums must be right, and what is live must be known.
H.case("at random", function()
  for seed = 1, 6 do
    local blocks, sizes, live, waste = {}, {}, 0, {}
    local rnd = seed * 7919
    local function random(n)
      rnd = (rnd * 16807) % 2147483647
      return rnd % n + 1
    end
    local function step()
      local i, size = random(40), 8 * random(seed)
      local what = random(6)
      if what <= 2 then
        blocks[i] = take(blocks[i], sizes[i], size)
        live, sizes[i] = live + size - sizes[i], size
      elseif what == 3 and blocks[i] then
        take(blocks[i], sizes[i], 0)
        blocks[i], live, sizes[i] = false, live - sizes[i], 0
      elseif what == 4 then
        waste[random(30)] = { i, i, i }
      elseif what == 5 then
        waste[#waste + 1] = ("x"):rep(random(200)) .. i
      end
    end
    for i = 1, 40 do blocks[i], sizes[i] = false, 0 end
    for _ = 1, 100 do step() end
    collectgarbage()
    collectgarbage()
    local opt = { foreign = 0, buffer = 16384 }
    local before = live
    -- What old formats are expected to have is known only at the end.
    local s = H.record(function()
      for _ = 1, 4000 do step() end
      opt.foreign = live - before
    end, opt)
    if H.compact then
      H.ok(s.blocks > 1, "more than one block")
      H.eq(s.foreign.bytes_in - s.foreign.bytes_out, live - before, "foreign bytes")
      H.ok(s.foreign.alloc + s.foreign.realloc + s.foreign.free > 1000, "foreign events")
    end
    for i = 1, 40 do
      if blocks[i] then take(blocks[i], sizes[i], 0) end
    end
  end
end)

-- Of samples nobody can tell; they must not go wrong.
if H.compact then
  H.case("sampled", function()
    local s = H.record(function()
      local list = {}
      for i = 1, 300 do list[i] = take(nil, 0, 100 + i) end
      for i = 1, 300 do
        list[i] = take(list[i], 100 + i, 50 + i)
        take(list[i], 50 + i, 0)
      end
    end, { sample = 256, seed = 5, foreign = 0 })
    H.eq(#foreign_of(s), 0, "foreign events")
    H.ok(s.nevents > 300, "samples")
  end)
end

H.done()

-- Object types. At the end of a recording the VM itself is asked where its
-- objects lie, and what their parts are: all that is told of these blocks has
-- to be so. And lines that make one thing only have no event of another type.

local H = require("harness")
if not H.compact then H.skip("only the compact format has types") end
if not H.has_ffi then H.skip("the VM's own structures are read by ffi") end

local ffi = require("ffi")
local buffer = require("string.buffer")
local jutil = require("jit.util")
local tabnew = require("table.new")
local has_jit = H.has_jit

-- Where objects lie -------------------------------------------------------------

local function address(o)
  return tonumber((string.format("%p", o):gsub("^0x", "")), 16)
end

-- The parts of a table; 0 for what it has not.
ffi.cdef(H.gc64 and [[
  typedef struct { uint64_t nextgc; uint8_t marked, gct, nomm; int8_t colo;
    uint64_t array, gclist, metatable, node; uint32_t asize, hmask; } ljtypes_tab;
]] or [[
  typedef struct { uint32_t nextgc; uint8_t marked, gct, nomm; int8_t colo;
    uint32_t array, gclist, metatable, node; uint32_t asize, hmask; } ljtypes_tab;
]])

local function parts(addr)
  local t = ffi.cast("ljtypes_tab *", addr)
  return tonumber(t.asize) > 0 and tonumber(t.array) or 0,
         tonumber(t.hmask) > 0 and tonumber(t.node) or 0, tonumber(t.asize), tonumber(t.hmask)
end

-- The last events of blocks that are live at the end, by where they begin.
local function blocks_of(s)
  local at, list = {}, {}
  for _, e in ipairs(s.events) do
    if e.oaddr then at[e.oaddr] = nil end
    if e.naddr then at[e.naddr] = e end
  end
  for addr in pairs(at) do list[#list + 1] = addr end
  table.sort(list)
  -- The block that holds an address.
  return function(addr)
    local low, high = 0, #list
    while low < high do
      local mid = math.ceil((low + high) / 2)
      if list[mid] <= addr then low = mid else high = mid - 1 end
    end
    local e = at[list[low]]
    return e and addr < e.naddr + e.nsize and e or nil
  end
end

local seen = {}

-- The block at an address has one of two types, if it was made while recording.
local function check_block(find, addr, what, type_, size, second)
  local e = find(addr)
  if not e then return false end
  local t = e.type or (e.kind == "alloc" and "nothing")
  if t then -- Blocks that have been moved have no type.
    seen[what] = (seen[what] or 0) + 1
    H.ok(t == type_ or t == second, "%s of %d bytes at line %s is '%s', expected '%s'",
         what, e.nsize, tostring(e.site.line), t, type_)
    if size then H.eq(e.nsize, size, "size of a %s", what) end
  end
  return true
end

local upvalue_id = debug.upvalueid

local function check_object(find, kind, o)
  if kind == "buffer" then
    -- Not reserve(): one without room would get its memory only now.
    local p = tonumber(ffi.cast("uintptr_t", (o:ref())))
    if p ~= 0 then check_block(find, p, "buffer", "other") end
    return
  end
  -- A userdata's address is that of what is behind its header.
  check_block(find, address(o) - (kind == "userdata" and 1 or 0), kind, kind == "coroutine" and "thread" or kind,
              kind == "string" and #o + 1 + (H.gc64 and 24 or 20) + (-#o - 1) % 4 or nil)
  if kind == "table" then
    local addr = address(o)
    local own = find(addr)
    local array, node, asize, hmask = parts(addr)
    -- An array part that lies behind the table is a part of its block.
    if array ~= 0 and find(array) ~= own then
      check_block(find, array, "array", "array", asize * 8, "other")
    end
    if node ~= 0 then check_block(find, node, "hash", "hash", (hmask + 1) * 24) end
  elseif kind == "function" then
    check_block(find, address(jutil.funcinfo(o).proto), "proto", "proto")
    for i = 1, 60 do
      if not debug.getupvalue(o, i) then break end
      local id = tostring(upvalue_id(o, i)):match("0x(%x+)")
      check_block(find, tonumber(id, 16), "upvalue", "upvalue")
    end
  end
end

-- Objects of all kinds ------------------------------------------------------------

local aligned = ffi.typeof("struct { double d __attribute__((aligned(64))); }")
local large = ffi.typeof("struct { double d[40]; }")
local vla = ffi.typeof("double[?]")
local int64 = ffi.typeof("int64_t")

local function many(n)
  if n > 0 then return n, many(n - 1) end
end

local serial = 0
local makers = {
  { "string", function(n) serial = serial + 1 return "made " .. serial .. (" "):rep(n % 90) end },
  { "string", function(n) return ("%d:%g"):format(n + 1e9, serial / 7) end },
  { "table", function(n) return { n, n + 1, n + 2 } end },
  { "table", function(n) return { x = n, y = n, [n] = 1 } end },
  { "table", function(n) return tabnew(n % 40, n % 5) end },
  { "table", function(n) local t = {} for i = 1, n % 70 do t[i] = i % 2 == 0 and 0 or i end return t end },
  { "table", function(n) local t = {} for i = 1, n % 40 do t["k" .. i] = 0 end return t end },
  { "table", function(n) local t = {} for i = 1, n % 40 do t[i] = 0; t[-i] = i end return t end },
  { "table", function(n) return { many(n % 60) } end },
  { "table", function(n) local t = tabnew(n % 6, 0) for i = 1, n % 13 do t[i] = n end return t end },
  { "table", function(n) local t = tabnew(0, 0) for i = n % 9, 1, -1 do t[i] = 0 end return t end },
  { "table", function(n) return { pcall(many, n % 30) } end },
  { "function", function(n) local a, b = n, { n } return function() a = a + 1 return b end end },
  { "function", function(n)
    local f
    for i = n, n + 2 do f = function() i = i + 1 return i end end
    return f
  end },
  { "function", function(n) return loadstring(("local a, b = 1 return function() a = %d end"):format(n))() end },
  { "function", function(n) return assert(loadstring("local f = ... " .. ("f(1)\n"):rep(n % 20))) end },
  { "coroutine", function(n)
    local co = coroutine.create(function(a)
      local f = function() a = a + 1 end
      coroutine.yield(f)
    end)
    if n % 2 == 0 then coroutine.resume(co, n) end
    return co
  end },
  { "userdata", function(n) return newproxy(n % 2 == 0) end },
  { "cdata", function(n) return vla(n % 50) end },
  { "cdata", function(n) return aligned(n) end },
  { "cdata", function(n) return large() end },
  { "cdata", function(n) return int64(n) end },
  { "cdata", function(n) return ffi.new("char[?]", n % 900) end },
  { "cdata", function(n) return ffi.gc(ffi.new("int[4]"), n % 2 == 0 and tostring or nil) end },
  { "buffer", function(n) return buffer.new(n * 7 % 5000) end },
  { "buffer", function(n) return buffer.new():put("text", n):put(("x"):rep(n % 300)) end },
}

-- Random kinds, in bursts that the compiler takes up; some are kept.
local function mix(rounds, seed)
  local kept, x = {}, seed
  local function random(n)
    x = (x * 16807) % 2147483647
    return x % n + 1
  end
  for _ = 1, rounds do
    local kind, make = unpack(makers[random(#makers)])
    for _ = 1, random(30) do
      local n = random(5000)
      local o = make(n)
      if n % 3 == 0 then kept[#kept + 1] = { kind, o } end
    end
    if random(40) == 1 then
      for i = #kept, 1, -1 do
        if random(3) > 1 then kept[i] = kept[#kept]; kept[#kept] = nil end
      end
    end
  end
  return kept
end

local function check_kept(s, kept)
  H.jit_switch(true)
  local find = blocks_of(s)
  for _, k in ipairs(kept) do check_object(find, k[1], k[2]) end
  H.jit_switch(H.jit)
end
H.off(check_kept)

for seed = 1, 6 do
  H.case("a mix of all kinds, seed " .. seed, function()
    local kept
    local s = H.record(function() kept = mix(600, seed) end, { stack = seed % 3 == 0 and 8 or nil })
    check_kept(s, kept)
  end)
end

H.case("all kinds were seen", function()
  for _, kind in ipairs { "string", "table", "array", "hash", "function", "proto", "upvalue",
                          "coroutine", "userdata", "cdata", "buffer" } do
    H.ok((seen[kind] or 0) > 30, "%d of %s", seen[kind] or 0, kind)
    io.write(("  %s: %d\n"):format(kind, seen[kind] or 0))
  end
end)

-- Lines that make one thing ---------------------------------------------------------

-- Each line's code runs by itself; the types of its events are the given ones,
-- each at least once if it is not in parentheses.
local N = 200
local function only(what, code, types)
  H.case(what, function()
    local fn = assert(loadstring("local keep, many = { 0 }, ...\nfor i = 1, " .. N .. " do\n" .. code ..
                                 "\nend", "@only.lua"))
    local s = H.record(function() fn(many) end)
    local n = {}
    for _, e in ipairs(s.events) do
      if e.kind == "alloc" and e.site.chunk == "@only.lua" and e.site.line == 3 then
        local t = e.type or "nothing"
        n[t] = (n[t] or 0) + 1
        H.ok(types:find(t, 1, true), "%d bytes are '%s', expected '%s'", e.nsize, t, types)
      end
    end
    for t in types:gsub("%b()", ""):gmatch("%w+") do
      H.ok((n[t] or 0) >= N / 2, "%d events of type '%s'", n[t] or 0, t)
    end
  end)
end

only("closures", "keep[1] = function() return i end", "function upvalue")
only("closures that change a local", "local a = i; keep[1] = function() a = a + 1 end", "function upvalue")
only("closures without upvalues", "keep[1] = function() end", "function")
only("tables", "keep[1] = {}", "table")
only("array parts of constructors", "keep[1] = {" .. ("i,"):rep(100) .. "}", "table array")
only("hash parts of constructors", "keep[1] = { a = i, b = i, c = i }", "table hash")
only("small arrays are in their table", "keep[1] = { i, i }", "table")
only("arrays of results, 5", "keep[1] = { many(5) }", "table (array other)")
only("arrays of results, 11", "keep[1] = { many(11) }", "table (array other)")
only("arrays that outgrow their table", "keep[1] = { i } keep[1][2] = 0", "table (array other)")
only("arrays of zeros", "keep[1] = { 0 } for k = 2, 6 do keep[1][k] = 0 end", "table (array other)")
only("cdata", "keep[1] = require('ffi').new('int[9]')", "cdata (other)")
only("cdata of variable size", "keep[1] = require('ffi').new('char[?]', i)", "cdata (other)")
only("userdata", "keep[1] = newproxy()", "userdata")
only("strings", "keep[1] = i + 0.25 .. 'a'", "string (other)")
only("coroutines", "keep[1] = coroutine.create(print)", "thread other")
only("prototypes", "loadstring('return ' .. i)", "proto function string (other table hash)")

H.case("internal events", function()
  local s = H.record(function() mix(300, 77) end)
  local traces = 0
  for _, e in ipairs(s.events) do
    if e.kind == "alloc" and e.site.source == "internal" then
      if e.type == "trace" then
        traces = traces + 1
      elseif not H.jit then -- Exits of traces make what was put off.
        H.eq(e.type, "other", "type of %d internal bytes", e.nsize)
      end
    elseif e.type == "trace" then
      H.ok(false, "a trace at %s", H.describe(e.site))
    end
  end
  if has_jit and H.jit then H.ok(traces > 5, "only %d traces", traces) end
end)

-- What lay there before ---------------------------------------------------------------

H.case("memory that has held objects", function()
  local kept = {}
  local s = H.record(function()
    for round = 1, 200 do
      local size = 32 * 2 ^ (round % 6)
      local old = {}
      for i = 1, 20 do
        serial = serial + 1
        old[i] = ("%012d"):format(serial) .. ("o"):rep(size - (H.gc64 and 24 or 20) - 16 + i % 4)
      end
      old = nil
      collectgarbage()
      for i = 1, 10 do
        local b = buffer.new()
        b:reserve(size - 8) -- The memory is left as it was.
        kept[#kept + 1] = b
      end
    end
  end)
  local find, n = blocks_of(s), 0
  for _, b in ipairs(kept) do
    local p = b:reserve(1)
    local e = find(tonumber(ffi.cast("uintptr_t", p)))
    if e and e.kind == "alloc" then
      n = n + 1
      H.eq(e.type, "other", "type of a buffer of %d bytes", e.nsize)
    end
  end
  H.ok(n > 100, "only %d buffers", n)
end)

H.done()

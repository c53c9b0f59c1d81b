-- What the VM does by itself: interning, growing and shrinking, the stack.

local H = require("harness")

-- Allocations and their bytes on one line of a chunk.
local function at_line(s, chunk, line, kind)
  return H.find(s, { chunk = chunk, line = line, kind = kind })
end

H.case("a string is allocated on a miss only", function()
  local fn = assert(loadstring([[
local i, keep = ...
keep[1] = "interned " .. i
keep[2] = "interned " .. i
keep[3] = ("interned " .. i):sub(1)
]], "@intern.lua"))
  local keep = { 1, 2, 3 }
  H.off(fn) -- A trace may have no use for a string.
  fn(1, keep) -- Grows the string buffer.
  for i = 1000, 1020 do
    local s = H.record(function() fn(i, keep) end)
    H.eq(#at_line(s, "@intern.lua", 2, "alloc"), 1, "allocations on a miss")
    H.eq(#at_line(s, "@intern.lua", 3), 0, "events on a hit")
    H.eq(#at_line(s, "@intern.lua", 4), 0, "events on the second hit")
  end
end)

H.case("the table of strings grows and shrinks", function()
  local keep = {}
  local s = H.record(function()
    for i = 1, 20000 do keep[i] = "string " .. i end
    for i = 1, 20000 do keep[i] = nil end
    collectgarbage() collectgarbage()
    collectgarbage() collectgarbage()
  end)
  local grown = 0
  for _, e in ipairs(s.events) do
    if e.nsize >= 8192 * 4 and e.site.source ~= "internal" then grown = grown + 1 end
  end
  H.ok(grown > 0, "nothing grew")
end)

H.case("tables grow, in place or not", function()
  local fn = assert(loadstring([[
local t, h = ...
for i = 1, 3000 do
  t[i] = i
  h[i * 2.5] = i
end
]], "@grow.lua"))
  local t, h = {}, {}
  H.off(fn)
  local s = H.record(function()
    collectgarbage("stop")
    fn(t, h)
    collectgarbage("restart")
  end)
  local bytes = H.sum(at_line(s, "@grow.lua", 3))
  H.eq(bytes, (4096 + 1) * 8, "bytes of the array") -- And slot 0.
  local hash = H.sum(at_line(s, "@grow.lua", 4))
  H.ok(hash >= 4096 * 16, "bytes of the hash part: %d", hash)
  H.ok(#at_line(s, "@grow.lua", 3, "realloc") >= 5, "reallocations of the array")
end)

H.case("tables, buffers and stacks shrink", function()
  local keep = {}
  for i = 1, 100 do
    local t = {}
    for j = 1, 200 do t[j] = j end
    keep[i] = t
  end
  local s = H.record(function()
    for i = 1, 100 do
      for j = 4, 200 do keep[i][j] = nil end
      keep[i].x = 1 -- Makes it count its slots again.
    end
    local big = ("x"):rep(200000) .. "y"
    big = nil
    collectgarbage() collectgarbage() collectgarbage()
  end)
  local shrunk = 0
  for _, e in ipairs(s.events) do
    if e.kind == "realloc" and e.nsize < e.osize then shrunk = shrunk + 1 end
  end
  H.ok(shrunk > 100, "%d reallocations shrink", shrunk)
end)

H.case("a stack of 10,000 frames", function()
  local s = H.try([[
local function deep(n)
  if n == 0 then
    keep[1] = $cdata --x3
    return 0
  end
  local a, b, c = n, n, n
  return (deep(n - 1)) + 1
end
for i = 1, 3 do
  local n = deep(10000)
  keep[1] = $array --x3
  collectgarbage()
end]])
  local grown, bytes = 0, 0
  for _, e in ipairs(s.events) do
    if e.kind == "realloc" and e.nsize > e.osize and e.nsize > 8 * 1000 and
       (e.site.first == 2 or H.jit) then -- Traces grow it at their exits.
      grown, bytes = grown + 1, math.max(bytes, e.nsize)
    end
  end
  H.ok(grown > 1, "the stack grew %d times", grown)
  H.ok(bytes > 10000 * 5 * 8, "the stack grew to %d bytes", bytes)
end)

H.case("unpack of 5,000 values", function()
  local s, code = H.try([[
local t = {}
for i = 1, 5000 do t[i] = i end
collectgarbage()
for i = 1, 3 do
  local n = select("#", unpack(t)) --:unpack
  keep[1] = $cdata --x3
  local copy = { unpack(t) }
  keep[1] = $array --x3
  n = math.max(unpack(t))
  keep[1] = $string --x3
  n = #string.char(unpack(t, 1, 100))
  collectgarbage()
end]])
  local grown = 0
  for _, e in ipairs(at_line(s, code.chunk, code.labels.unpack, "realloc")) do
    if e.nsize >= 5000 * 8 then grown = grown + 1 end
  end
  H.ok(grown >= 1, "the stack did not grow at the line of unpack")
end)

H.case("objects that are older than the recording", function()
  local old = {}
  for i = 1, 1000 do old[i] = { i, tostring(i) .. "old" } end
  local s = H.record(function()
    for i = 1, 1000 do old[i] = nil end
    collectgarbage()
  end)
  local unseen, live = 0, {}
  for _, e in ipairs(s.events) do
    if e.kind == "free" and not live[e.oaddr] then unseen = unseen + 1 end
    if e.oaddr then live[e.oaddr] = nil end
    if e.naddr then live[e.naddr] = true end
  end
  H.ok(unseen >= 2000, "%d deallocations of older objects", unseen)
end)

if H.has_ffi then
  H.case("cdata of variable size and of large alignment", function()
    local ffi = require("ffi")
    H.try([[
ffi.cdef("struct aligned64 { __attribute__((aligned(64))) char x[128]; };")
local T = ffi.typeof("struct aligned64")
local V = ffi.typeof("struct { int n; double d[?]; }")
for i = 1, 20 do
  keep[1] = T()
  keep[2] = V(i)
  keep[3] = 123456789012ULL + i
  keep[4] = ffi.new("int[3]", { 1, 2, 3 })
  keep[5] = $cdata --x20
  keep[6] = ffi.cast("char *", keep[4])
  keep[7] = $array --x20
end]], { env = { ffi = ffi } })
  end)
end

local has_buffer, buffer = pcall(require, "string.buffer")
if has_buffer then
  H.case("string.buffer", function()
    H.try([[
local b = buffer.new()
for i = 1, 20 do
  keep[1] = $cdata --x20
  b:put("text ", i, " ")
  keep[2] = b:tostring()
  keep[3] = buffer.encode({ i, a = { "b" } })
  keep[4] = buffer.decode(keep[3])
  keep[5] = $array --x20
  if i % 7 == 0 then b:reset() end
end
b:free()]], { env = { buffer = buffer } })
  end)
end

-- Many blocks, small buffer: every register starts anew.
H.case("a small buffer makes many blocks", function()
  local s = H.record(function()
    local keep = {}
    for i = 1, 30000 do keep[i % 512] = { i, tostring(i) } end
  end, { buffer = 16384 })
  H.ok(s.nevents > 60000, "%d events", s.nevents)
  if s.blocks then H.ok(s.blocks > 10, "%d blocks", s.blocks) end
end)

H.done()

-- An independent decoder of heap dumps, written from doc/stream-format.md. It
-- is strict: what the grammar does not allow is an error.
--
--   local d = require("dump").read(path)
--   d.list      all objects, in their order: { addr, type, size, garbage, refs }
--   d.at        the same by address
--   d.roots     { { name, addr }, ... }
--   d.parts     memory of the VM that is no object: name -> { addr, size }
--   d.ctypes    types of cdata, by number
--   d.defined   names of functions by the addresses of prototypes that another
--               one defines; "" if it has no name for it
--   d.making    addresses of what the VM may have been making; nil if it was not
--   d.mapped    { { kind, addr, size, resident }, ... }
--   d.sums      what HEAPEND says; nil if the dump is cut
--
-- A reference is { kind, to, ... }, of the kinds meta, env, proto, upvalue,
-- content, array, node, const, frame, slot, link.

local decode = require("decode")

local byte, sub, floor = string.byte, string.sub, math.floor

local M = {}

M.types = { [4] = "string", [5] = "upvalue", [6] = "thread", [7] = "proto", [8] = "function", [9] = "trace",
  [10] = "cdata", [11] = "table", [12] = "userdata" }
M.phases = { [0] = "pause", "propagate", "atomic", "sweepstring", "sweep", "finalize" }

local function bad(r, what)
  error(("%s at byte %d"):format(what, r.pos - 1), 0)
end

-- Integers --------------------------------------------------------------------

-- Numbers of more than 53 bits lose their last ones; addresses are read with
-- what decode.lua has for them.
local function uleb(r)
  local v, scale, b = 0, 1
  repeat
    b = byte(r.data, r.pos)
    if not b or r.pos > r.stop then bad(r, "cut") end
    r.pos = r.pos + 1
    v = v + b % 128 * scale
    scale = scale * 128
  until b < 128
  return v
end

local function sleb(r)
  local v = uleb(r)
  return v % 2 == 0 and v / 2 or -(v + 1) / 2
end

local function u8(r)
  if r.pos > r.stop then bad(r, "cut") end
  r.pos = r.pos + 1
  return byte(r.data, r.pos - 1)
end

local function str(r, n)
  n = n or uleb(r)
  if r.pos + n - 1 > r.stop then bad(r, "cut") end
  r.pos = r.pos + n
  return sub(r.data, r.pos - n, r.pos - 1)
end

local function fixed(r, n)
  local v = 0
  for i = n, 1, -1 do v = v * 256 + byte(r.data, r.pos + i - 1) end
  r.pos = r.pos + n
  return v
end

-- The place of an address in the cache: the upper 8 bits of the lower 64 of a
-- product, in digits of 16 bits.
local golden = { 0x7c15, 0x7f4a, 0x79b9, 0x9e37 }

local function cache_place(v)
  local a, carry, digit = {}, 0
  local hi, lo = decode.split(v)
  a[1], a[2], a[3], a[4] = lo % 65536, floor(lo / 65536), hi % 65536, floor(hi / 65536)
  for i = 1, 4 do
    local sum = carry
    for k = 1, i do sum = sum + a[k] * golden[i - k + 1] end
    digit, carry = sum % 65536, floor(sum / 65536)
  end
  return floor(digit / 256)
end

assert(cache_place(1) == 0x9e and cache_place(2) == 0x3c and cache_place("8000000000000000") == 0x80)

-- References ------------------------------------------------------------------

-- Half of a reference's number, whose highest bit stays what it is.
local function half(v)
  if type(v) == "number" then return floor(v / 2) end
  local hi, lo = decode.split(v)
  return decode.join(floor(hi / 2) + (hi >= 2 ^ 31 and 2 ^ 31 or 0), floor(lo / 2) + hi % 2 * 2 ^ 31)
end

-- An address, or nil. The number is odd where a difference follows: 1 was added.
local function ref(r)
  local v = decode.uleb(r)
  if v == 0 then return nil end
  local _, lo = decode.split(v)
  if lo % 2 == 0 then
    local place = v / 2 - 1
    if place > 255 then bad(r, "place outside of the cache") end
    r.ref = r.cache[place] or bad(r, "empty place of the cache")
  else
    r.ref = decode.add_zigzag(r.ref, half(v))
    r.cache[cache_place(r.ref)] = r.ref
  end
  return decode.address(r.ref)
end

local function must(r)
  return ref(r) or bad(r, "no reference")
end

local function near(r)
  return decode.address(decode.add_zigzag(r.addr, decode.uleb(r)))
end

local function add(o, kind, to, t)
  if to then
    t = t or {}
    t.kind, t.to = kind, to
    o.refs[#o.refs + 1] = t
  end
end

-- Objects ---------------------------------------------------------------------

local fields = {}

function fields.string(r, o, flags)
  o.length = uleb(r)
  o.text = str(r, math.min(o.length, r.strings))
  o.fixed = flags >= 2
  if (flags % 2 == 1) ~= (#o.text > 0) then bad(r, "flag of text") end
end

function fields.upvalue(r, o, flags)
  o.open = flags % 2 == 1
  if o.open then o.value = near(r) end
  if flags >= 2 then add(o, "content", must(r)) end
end

function fields.thread(r, o, flags)
  o.main, o.current = flags % 2 == 1, flags >= 2
  o.status, o.stack, o.stacksize = uleb(r), near(r), uleb(r)
  add(o, "env", ref(r))
end

function fields.proto(r, o, flags)
  o.first, o.lines, o.lineinfo = uleb(r), uleb(r), uleb(r) == 1
  if flags == 0 then r.chunk = str(r) end
  o.chunk, o.uvnames = r.chunk or bad(r, "no chunk before"), {}
  for i = 1, uleb(r) do o.uvnames[i] = str(r) end
end

fields["function"] = function(r, o, flags)
  o.c = flags == 1
  if o.c then
    o.ffid, o.code = uleb(r), uleb(r)
  else
    add(o, "proto", must(r))
  end
  add(o, "env", ref(r))
  o.nup = uleb(r)
  for i = 1, o.nup do add(o, "upvalue", ref(r), { index = i }) end
end

function fields.trace(r, o)
  o.number, o.root = uleb(r), uleb(r)
end

function fields.cdata(r, o, flags)
  if flags % 2 == 1 then o.base = near(r) end
  o.finalizer, o.ctype = flags >= 2, uleb(r)
end

function fields.table(r, o, flags)
  local a = u8(r)
  if a > 15 then bad(r, "attributes of a table") end
  o.weakkey, o.weakvalue = a % 2 == 1, a % 4 >= 2
  r.weak = a % 4
  if a % 8 >= 4 then add(o, "meta", must(r)) end
  o.asize, o.aempty, o.hsize, o.hempty = 0, 0, 0, 0
  if flags % 2 == 1 then
    o.asize, o.aempty = uleb(r), uleb(r)
    if a >= 8 then o.array = near(r) end
  end
  if flags >= 2 then o.hsize, o.hempty, o.hash = uleb(r), uleb(r), near(r) end
end

function fields.userdata(r, o, flags)
  o.udtype = uleb(r)
  add(o, "env", ref(r))
  if flags % 2 == 1 then add(o, "meta", must(r)) end
  if flags >= 2 then o.bytes, o.block = uleb(r), near(r) end
end

local function object(r, d, h)
  local name = M.types[floor(h / 16)] or bad(r, "type")
  local o = { type = name, garbage = h % 4 == 3, refs = {} }
  r.addr = decode.add_zigzag(r.addr, decode.uleb(r))
  r.ref, r.next, r.weak = r.addr, 0, 0
  r.size[name] = (r.size[name] or 0) + sleb(r)
  o.addr, o.size = decode.address(r.addr), r.size[name]
  if d.at[o.addr] then bad(r, "an object twice") end
  if o.size < 0 then bad(r, "size") end
  fields[name](r, o, floor(h / 4) % 4)
  r.object = o
  d.at[o.addr] = o
  d.list[#d.list + 1] = o
end

-- Parts of objects ------------------------------------------------------------

local function key(r, tag)
  if tag == 1 then return false end
  if tag == 2 then return true end
  if tag == 3 then return sleb(r) end
  if tag == 4 or tag == 5 then return ("bits %.0f"):format(uleb(r)) end
  return bad(r, "tag of a key")
end

local part = {
  [0] = function(r, o)
    r.addr = decode.uleb(r)
    r.ref = r.addr
    if not o or o.addr ~= decode.address(r.addr) then bad(r, "another object goes on") end
  end,
  function(r, o, flags)
    r.next = r.next + (flags == 1 and uleb(r) or 0)
    add(o, "array", must(r), { key = r.next, weak = o.weakvalue })
    r.next = r.next + 1
  end,
  function(r, o)
    local tags = u8(r)
    local k, v = tags % 16, floor(tags / 16)
    local t = { weakkey = o.weakkey, weak = o.weakvalue, value = v }
    if k == 6 then t.from = must(r) else t.key = key(r, k) end
    if v == 6 then t.to = must(r) elseif v > 5 or v == 0 then bad(r, "tag of a value") end
    t.kind = "node"
    o.refs[#o.refs + 1] = t
  end,
  function(r, o) add(o, "const", must(r)) end,
  function(r, o)
    local line = uleb(r)
    o.frames = o.frames or {}
    o.frames[#o.frames + 1] = { line = line, fn = ref(r) }
    add(o, "frame", o.frames[#o.frames].fn, { line = line })
  end,
  function(r, o, flags)
    local slot = uleb(r)
    local name = flags == 1 and str(r) or nil
    add(o, "slot", must(r), { slot = slot, name = name, frame = o.frames and #o.frames })
  end,
  function(r, o)
    local name = str(r)
    add(o, "link", must(r), { name = name })
  end,
}

local takes = { [0] = "table", "table", "table", false, "thread", "thread" }

-- Records ---------------------------------------------------------------------

local function meta(r, d, stop)
  while r.pos < stop do
    local k, t = str(r), str(r, 1)
    d.meta[k] = t == "u" and uleb(r) or str(r)
  end
  r.strings = d.meta.strings or bad(r, "no length of strings")
end

local TIME = 6

local records = {
  meta,
  [TIME] = function(r) uleb(r) end,
  [18] = function(r, d)
    local addr = uleb(r)
    d.roots[#d.roots + 1] = { addr = addr, name = str(r) }
  end,
  [19] = function(r, d)
    local addr, size = uleb(r), uleb(r)
    d.parts[str(r)] = { addr = addr, size = size }
  end,
  [20] = function(r, d)
    local id, info, size = uleb(r), uleb(r), uleb(r)
    d.ctypes[id] = { info = info, size = size, name = str(r) }
  end,
  [21] = function(r, d)
    local s = {}
    s.flags, s.objects, s.bytes, s.garbage, s.parts, s.total = uleb(r), uleb(r), uleb(r), uleb(r), uleb(r), uleb(r)
    s.making, s.phase, s.ns = sleb(r), uleb(r), uleb(r)
    d.sums = s
  end,
  [23] = function(r, d, stop)
    d.making = d.making or {}
    while r.pos < stop do d.making[#d.making + 1] = uleb(r) end
  end,
  [24] = function(r, d)
    local addr = uleb(r)
    if d.defined[addr] then bad(r, "a prototype with two definitions") end
    d.defined[addr] = str(r)
  end,
  [25] = function(r, d, stop)
    local kind, addr, page = uleb(r), uleb(r), uleb(r)
    if kind > 1 then bad(r, "kind of pages") end
    if d.list[1] or next(d.parts) then bad(r, "pages behind what is in them") end
    local resident = true
    while r.pos < stop do
      local size = uleb(r) * page
      if size > 0 then
        d.mapped[#d.mapped + 1] = { kind = kind, addr = addr, size = size, resident = resident }
      end
      addr, resident = addr + size, not resident
    end
  end,
}

local function record(r, d, h)
  local code, n = floor(h / 4), uleb(r)
  local stop = r.pos + n
  if d.sums then bad(r, "a record behind the end") end
  if code == TIME then d.times = (d.times or 0) + 1 end
  ;(records[code] or bad(r, "record " .. code))(r, d, stop)
  if r.pos ~= stop then bad(r, "length of record " .. code) end
  return code
end

-- Blocks ----------------------------------------------------------------------

local function item(r, d)
  local h = u8(r)
  local e = h % 4
  if e == 0 then
    if record(r, d, h) ~= TIME then r.object = nil end
  elseif e == 2 then
    local kind, o = floor(h / 16), r.object
    local read = part[kind] or bad(r, "part")
    if not o and kind ~= 0 then bad(r, "part of no object") end
    if takes[kind] and kind ~= 0 and o.type ~= takes[kind] then bad(r, "part of a " .. o.type) end
    read(r, o, floor(h / 4) % 4)
  else
    object(r, d, h)
  end
end

local function block(r, d, check)
  if sub(r.data, r.pos, r.pos + 3) ~= "ljb\16" then bad(r, "no block") end
  r.pos = r.pos + 4
  r.stop = #r.data
  local crc, len, first = fixed(r, 4), fixed(r, 4), fixed(r, 8)
  if first ~= #d.list then bad(r, "number of objects before a block") end
  if r.pos + len - 1 > #r.data then bad(r, "cut") end
  if check and decode.crc32c(r.data, r.pos - 12, r.pos + len - 1) % 2 ^ 32 ~= crc then bad(r, "checksum") end
  r.stop = r.pos + len - 1
  r.addr, r.ref, r.next, r.size, r.cache, r.chunk = 0, 0, 0, {}, {}, nil
  d.blocks = d.blocks + 1
  while r.pos <= r.stop do item(r, d) end
end

-- Decodes a dump. Checksums take time, and may be left out.
function M.decode(data, nocheck)
  local r = { data = data, pos = 1, stop = #data }
  local d = { list = {}, at = {}, roots = {}, parts = {}, ctypes = {}, defined = {}, mapped = {}, meta = {},
    blocks = 0 }
  if str(r, 7) ~= "ljs\16\0\0\0" then bad(r, "no symbols") end
  d.vm = uleb(r)
  if u8(r) ~= 0x80 or str(r, 7) ~= "ljd\16\0\0\0" then bad(r, "no dump") end
  while r.pos <= #data do block(r, d, not nocheck) end
  return d
end

function M.read(path, nocheck)
  return M.decode(decode.slurp(path), nocheck)
end

-- What must hold --------------------------------------------------------------

-- Calls fn(from, to, ref) for each reference of an object.
function M.each(o, fn)
  for _, ref in ipairs(o.refs) do
    if ref.from then fn(o, ref.from, ref) end
    if ref.to then fn(o, ref.to, ref) end
  end
end

-- LuaJIT's allocator has small blocks in its segments; they do not overlap.
-- Objects may have other blocks, which move and shrink.
local function faults_mapped(d, fault)
  local list, last = {}, nil
  for _, m in ipairs(d.mapped) do
    if m.kind == 0 then list[#list + 1] = m end
  end
  if not list[1] then return end
  table.sort(list, function(a, b) return a.addr < b.addr end)
  for i = 2, #list do
    if list[i - 1].addr + list[i - 1].size > list[i].addr then fault("pages at %x are there twice", list[i].addr) end
  end
  local function has(m, addr)
    return m and addr >= m.addr and addr < m.addr + m.size
  end
  for _, o in ipairs(d.list) do
    local addr = o.base or o.addr
    if o.size < 2 ^ 17 - 64 and not has(last, addr) then
      last = nil
      for _, m in ipairs(list) do
        if has(m, addr) then last = m end
      end
      if not last then fault("%s at %x is in none of the allocator's segments", o.type, addr) end
    end
  end
end

-- What is wrong with a whole dump: a list of sentences.
function M.faults(d)
  local list, bytes, garbage, parts = {}, 0, 0, 0
  local function fault(what, ...) list[#list + 1] = what:format(...) end
  if not d.sums then
    fault("it is cut")
    return list
  end
  for addr in pairs(d.defined) do
    if not d.at[addr] or d.at[addr].type ~= "proto" then fault("%x is defined, but no prototype", addr) end
  end
  faults_mapped(d, fault)
  local unset = {} -- The array of a table that is being made may be.
  for _, addr in ipairs(d.making or {}) do unset[addr] = true end
  for _, o in ipairs(d.list) do
    bytes = bytes + o.size
    if o.fixed and o.garbage then fault("string %q is garbage, and never collected", o.text) end
    if o.garbage then
      garbage = garbage + o.size
    else
      M.each(o, function(_, to, ref)
        local t = d.at[to]
        if not t then
          if unset[o.addr] and o.type == "table" and ref.kind == "array" then return end
          fault("%s at %x has a reference of kind %s to %x, where no object is", o.type, o.addr, ref.kind, to)
        elseif o.type == "proto" and t.type == "proto" and not d.defined[to] then
          fault("the prototype at %x has no definition", to)
        elseif t.garbage then
          fault("%s at %x has a reference of kind %s to a %s that is garbage", o.type, o.addr, ref.kind, t.type)
        end
      end)
    end
  end
  for _, root in ipairs(d.roots) do
    if not d.at[root.addr] then
      fault("root %s is no object", root.name)
    elseif d.at[root.addr].garbage then
      fault("root %s is garbage", root.name)
    end
  end
  for _, p in pairs(d.parts) do parts = parts + p.size end
  local s = d.sums
  if s.objects ~= #d.list then fault("%d objects, the end says %d", #d.list, s.objects) end
  if s.bytes ~= bytes then fault("objects have %d bytes, the end says %d", bytes, s.bytes) end
  if s.garbage ~= garbage then fault("garbage has %d bytes, the end says %d", garbage, s.garbage) end
  if s.parts ~= parts then fault("parts have %d bytes, the end says %d", parts, s.parts) end
  if s.total ~= s.bytes + s.parts + s.making then fault("the total is no sum") end
  if s.flags > 1 then fault("flags are %d", s.flags) end
  if s.phase > 5 then fault("phase is %d", s.phase) end
  if d.times ~= d.blocks then fault("%d times in %d blocks", d.times or 0, d.blocks) end
  return list
end

-- Garbage ---------------------------------------------------------------------

-- Puts all that objects lead to into seen. The collector clears weak references,
-- but for those to strings.
local function follow(d, todo, seen)
  local function put(addr, weak)
    local o = d.at[addr]
    if o and not seen[o] and not o.garbage and not (weak and o.type ~= "string") then
      seen[o] = true
      todo[#todo + 1] = o
    end
  end
  for _, o in ipairs(todo) do seen[o] = true end
  while #todo > 0 do
    M.each(table.remove(todo), function(_, to, ref)
      put(to, to == ref.from and ref.weakkey or to == ref.to and ref.weak)
    end)
  end
end

-- The objects that are garbage for sure: what the collector says is, and what no
-- root reaches, unless the VM may have it in a register.
function M.garbage(d)
  local list, todo, seen = {}, {}, {}
  for _, root in ipairs(d.roots) do todo[#todo + 1] = d.at[root.addr] end
  for _, o in ipairs(d.list) do
    if o.fixed then todo[#todo + 1] = o end
  end
  for _, addr in ipairs(d.making or {}) do
    if not d.at[addr].garbage then todo[#todo + 1] = d.at[addr] end
  end
  follow(d, todo, seen)
  for _, o in ipairs(d.list) do
    if o.garbage or not seen[o] and d.sums.flags == 0 then list[#list + 1] = o end
  end
  return list
end

-- Finding ---------------------------------------------------------------------

function M.root(d, name)
  for _, root in ipairs(d.roots) do
    if root.name == name then return d.at[root.addr] end
  end
end

-- References of a kind; the first one, too.
function M.refs(o, kind)
  local list = {}
  for _, ref in ipairs(o.refs) do
    if ref.kind == kind then list[#list + 1] = ref end
  end
  return list
end

function M.first(d, o, kind)
  local ref = M.refs(o, kind)[1]
  return ref and d.at[ref.to], ref
end

-- The value of a key of a table, and the reference.
function M.get(d, t, k)
  for _, ref in ipairs(t.refs) do
    local from = ref.from and d.at[ref.from]
    if (ref.kind == "array" or ref.kind == "node") and
       (ref.key == k or from and from.type == "string" and from.text == k) then
      return d.at[ref.to], ref
    end
  end
end

return M

-- Independent decoders of the recorder's streams, written from the grammars:
-- doc/stream-format.md (0x10), the RFC (1), the format of the field (3).
--
-- They are strict where a real reader is lenient: whatever a grammar does not
-- allow is an error, so that a recorder cannot be wrong unnoticed.

local bit = require("bit")

local byte, sub, floor = string.byte, string.sub, math.floor
local band, bxor, rshift = bit.band, bit.bxor, bit.rshift

local M = {}

-- Integers --------------------------------------------------------------------

-- Numbers below 2^53 are Lua numbers, larger ones are strings of 16 hex digits:
-- equal numbers are equal keys, and a VM without the ffi can do it, too.
local EXACT = 2 ^ 53
local WORD = 2 ^ 32

-- The upper and lower half of a number.
local function split(v)
  if type(v) == "number" then return floor(v / WORD), v % WORD end
  return tonumber(sub(v, 1, 8), 16), tonumber(sub(v, 9), 16)
end

local function join(hi, lo)
  if hi < EXACT / WORD then return hi * WORD + lo end
  return ("%08x%08x"):format(hi, lo)
end

-- Adds the zigzagged difference zz to v, modulo 2^64.
local function add_zigzag(v, zz)
  if type(v) == "number" and type(zz) == "number" then
    local sum = v + (zz % 2 == 0 and zz / 2 or -(zz + 1) / 2)
    if sum >= 0 and sum < EXACT then return sum end
  end
  local vhi, vlo = split(v)
  local zhi, zlo = split(zz)
  local sign = zlo % 2 == 0 and 1 or -1
  local lo = vlo + sign * (floor(zlo / 2) + zhi % 2 * (WORD / 2))
  local hi = vhi + sign * floor(zhi / 2)
  if sign < 0 then lo = lo - 1 end
  return join((hi + floor(lo / WORD)) % WORD, lo % WORD)
end

-- An address that was turned right by three bits.
local function address(v)
  if type(v) == "number" and v < EXACT / 8 then return v * 8 end
  local hi, lo = split(v)
  local top = 2 ^ 29
  return join(hi % top * 8 + floor(lo / top), lo % top * 8 + floor(hi / top))
end

-- By the edges of all of this.
assert(add_zigzag(0, 1) == "ffffffffffffffff" and add_zigzag(5, 9) == 0)
assert(add_zigzag("ffffffffffffffff", 2) == 0 and add_zigzag(1, 2) == 2)
assert(add_zigzag("8000000000000000", "ffffffffffffffff") == 0)
assert(add_zigzag(0, "fffffffffffffffe") == "7fffffffffffffff")
assert(address("2000000000000001") == 9 and address(EXACT / 8) == "0020000000000000")

-- CRC32C ----------------------------------------------------------------------

local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = bxor(rshift(c, 1), band(-band(c, 1), 0x82f63b78))
  end
  crc_table[i] = c
end

local function crc32c(s, from, to)
  local c = -1
  for i = from, to do
    c = bxor(rshift(c, 8), crc_table[band(bxor(c, byte(s, i)), 255)])
  end
  return bit.bnot(c)
end

assert(crc32c("123456789", 1, 9) == bit.tobit(0xe3069283), "crc32c")
M.crc32c = crc32c

-- The cursor ------------------------------------------------------------------

-- A grammar error; what was read before it stands.
local function fail(r, msg, ...)
  error({ message = string.format(msg, ...), offset = r.pos - 1 }, 0)
end

local function get_byte(r)
  local pos = r.pos
  if pos > r.stop then fail(r, "the stream is cut") end
  r.pos = pos + 1
  return byte(r.data, pos)
end

-- The rest of a ULEB whose first 49 bits are v; b is its eighth byte.
local function get_wide_uleb(r, v, b)
  local hi, lo = split(v)
  local scale = 2 ^ 17
  while true do
    if scale == 2 ^ 31 and band(b, 127) > 1 then fail(r, "ULEB of over 64 bits") end
    hi = hi + band(b, 127) * scale
    if b < 128 then return join(hi, lo) end
    scale = scale * 128
    if scale > 2 ^ 31 then fail(r, "ULEB of over 10 bytes") end
    b = get_byte(r)
  end
end

local function get_uleb(r)
  local b = get_byte(r)
  if b < 128 then return b end
  local v, shift, scale = b - 128, 7, 128
  while true do
    b = get_byte(r)
    if shift > 42 then return get_wide_uleb(r, v, b) end
    v = v + band(b, 127) * scale
    if b < 128 then return v end
    shift, scale = shift + 7, scale * 128
  end
end

-- What else is made of such integers has them from here.
M.uleb, M.split, M.join, M.add_zigzag, M.address = get_uleb, split, join, add_zigzag, address

-- A ULEB that has to be a number that Lua can count with.
local function get_count(r)
  local v = get_uleb(r)
  if type(v) ~= "number" then fail(r, "number out of range") end
  return v
end

-- The line where a function is defined; -1 (2^64 - 1) for those that LuaJIT
-- brings along.
local function get_first(r)
  local v = get_uleb(r)
  if type(v) ~= "number" then
    if v ~= "ffffffffffffffff" then fail(r, "line out of range") end
    return -1
  end
  return v
end

local function get_string(r)
  local len = get_count(r)
  local pos = r.pos
  if len > r.stop + 1 - pos then fail(r, "string of %d bytes is cut", len) end
  r.pos = pos + len
  return sub(r.data, pos, pos + len - 1)
end

local function get_fixed(r, bytes)
  local v, scale = 0, 1
  for _ = 1, bytes do
    v = v + get_byte(r) * scale
    scale = scale * 256
  end
  return v
end

local function get_prologue(r, letter)
  local magic = ""
  for _ = 1, 3 do magic = magic .. string.char(get_byte(r)) end
  if magic ~= "lj" .. letter then fail(r, "no prologue 'lj%s'", letter) end
  local version = get_byte(r)
  for _ = 1, 3 do
    if get_byte(r) ~= 0 then fail(r, "reserved byte of a prologue") end
  end
  return version
end

-- Sites -----------------------------------------------------------------------

-- What all decoders tell of a place: source is "internal", "unknown", "lua",
-- "c" or "trace"; chunk, first, name come from the function's definition.
local internal = { source = "internal" }
local unknown = { source = "unknown" }
M.internal, M.unknown = internal, unknown

local function lua_site(func, addr, line, flags)
  return { source = "lua", addr = addr, line = line, func = func,
           chunk = func and func.chunk, first = func and func.first,
           name = func and func.name,
           approx = band(flags, 1) ~= 0, traced = band(flags, 2) ~= 0 }
end

-- A table that makes its values from two keys, once.
local function memo2(make)
  local t = {}
  return function(a, b)
    local ta = t[a]
    if not ta then ta = {}; t[a] = ta end
    local v = ta[b]
    if v == nil then v = make(a, b); ta[b] = v end
    return v
  end, t
end

-- Versions 1 and 3 ------------------------------------------------------------

local SYM_FINAL = 0x80

-- sym-addr sym-chunk sym-line
local function get_old_proto(r, out)
  local addr = get_uleb(r)
  local func = { addr = addr, chunk = get_string(r), first = get_first(r) }
  out.protos[addr] = func
  out.funcs[#out.funcs + 1] = func
  return addr
end

-- The sites of the old formats, found by what an event says of them.
local function old_sites(out)
  local lua, luat = memo2(function(addr, line)
    return lua_site(out.protos[addr], addr, line, 0)
  end)
  local c, ct = memo2(function(addr)
    return { source = "c", addr = addr, symbol = out.csyms[addr] }
  end)
  local trace, tracet = memo2(function(no)
    local t = out.traces[no] or {}
    local func = out.protos[t.proto]
    return { source = "trace", traceno = no, line = t.line, addr = t.proto,
             func = func, chunk = func and func.chunk,
             first = func and func.first, approx = true, traced = true }
  end)
  -- A definition makes new sites of an address that was known before.
  local forget = { lua = luat, c = ct, trace = tracet }
  return { lua = lua, c = c, trace = trace, forget = forget }
end

-- The addresses and sizes of an event.
local function get_old_body(r, ev)
  ev.oaddr, ev.osize, ev.naddr, ev.nsize = nil, 0, nil, 0
  if ev.kind ~= "alloc" then
    ev.oaddr, ev.osize = get_uleb(r), get_count(r)
  end
  if ev.kind ~= "free" then
    ev.naddr, ev.nsize = get_uleb(r), get_count(r)
  end
end

local kinds = { "alloc", "free", "realloc" }

-- Passes an event on.
local function emit(out, ev, on_event)
  out.nevents = out.nevents + 1
  out.counts[ev.kind] = out.counts[ev.kind] + 1
  out.bytes_in = out.bytes_in + ev.nsize
  out.bytes_out = out.bytes_out + ev.osize
  if on_event then on_event(ev) end
end

local function finish(r, out)
  if r.pos <= r.stop then fail(r, "%d bytes behind the end", r.stop - r.pos + 1) end
  out.whole = true
end

-- Version 1, as the RFC has it.
local function decode_rfc(r, out, on_event)
  local sites = old_sites(out)
  local ev = {}
  out.format = "rfc"
  out.vm = get_uleb(r)
  while true do
    local h = get_byte(r)
    if h >= SYM_FINAL then break end
    if h ~= 0 then fail(r, "symbol of kind 0x%02x", h) end
    get_old_proto(r, out)
  end
  if get_prologue(r, "m") ~= 1 then fail(r, "version of the body") end
  while true do
    local h = get_byte(r)
    if h >= 0x80 then break end
    ev.kind = kinds[band(h, 3)]
    ev.mark = band(h, 0x40) ~= 0
    if not ev.kind or band(h, 0x30) ~= 0 then fail(r, "event 0x%02x", h) end
    local source = band(rshift(h, 2), 3)
    if source == 1 then
      ev.site = internal
    elseif source == 2 then
      local addr = get_uleb(r)
      ev.site = sites.lua(addr, get_count(r))
    elseif source == 3 then
      ev.site = sites.c(get_uleb(r), 0)
    else
      fail(r, "event 0x%02x without a source", h)
    end
    get_old_body(r, ev)
    emit(out, ev, on_event)
  end
  finish(r, out)
end

-- Version 3, as it is in the field.
local function get_tarantool_symbol(r, out, sites, kind)
  if kind == 0 then
    sites.forget.lua[get_old_proto(r, out)] = nil
  elseif kind == 1 then
    local addr = get_uleb(r)
    out.csyms[addr] = get_string(r)
    sites.forget.c[addr] = nil
  elseif kind == 2 then
    local no = get_count(r)
    out.traces[no] = { proto = get_uleb(r), line = get_count(r) }
    sites.forget.trace[no] = nil
  else
    fail(r, "symbol of kind %d", kind)
  end
end

local function decode_tarantool(r, out, on_event)
  local sites = old_sites(out)
  local ev = { mark = false }
  out.format = "tarantool"
  while true do
    local h = get_byte(r)
    if h >= SYM_FINAL then break end
    get_tarantool_symbol(r, out, sites, h)
  end
  if get_prologue(r, "m") ~= 3 then fail(r, "version of the body") end
  while true do
    local h = get_byte(r)
    if h >= 0x80 then break end
    local source = band(rshift(h, 2), 7)
    if band(h, 0x60) ~= 0 then fail(r, "event 0x%02x", h) end
    if band(h, 3) == 0 then
      get_tarantool_symbol(r, out, sites, source - 2)
    else
      ev.kind = kinds[band(h, 3)]
      if source == 1 then
        ev.site = internal
      elseif source == 2 then
        local addr = get_uleb(r)
        ev.site = sites.lua(addr, get_count(r))
      elseif source == 3 then
        ev.site = sites.c(get_uleb(r), 0)
      elseif source == 4 then
        ev.site = sites.trace(get_count(r), 0)
      else
        fail(r, "event 0x%02x without a source", h)
      end
      get_old_body(r, ev)
      emit(out, ev, on_event)
    end
  end
  finish(r, out)
end

-- Version 0x10 ----------------------------------------------------------------

local records = {}

-- META
records[1] = function(r, out)
  if out.meta then fail(r, "META comes twice") end
  out.meta = {}
  while r.pos <= r.stop do
    local key, tag = get_string(r), get_byte(r)
    if out.meta[key] then fail(r, "META key %s comes twice", key) end
    if tag == 0x75 then
      out.meta[key] = get_uleb(r)
    elseif tag == 0x73 then
      out.meta[key] = get_string(r)
    else
      fail(r, "META tag 0x%02x", tag)
    end
  end
  out.depth, out.sample = out.meta.stack or 1, out.meta.sample or 0
end

local function define_func(r, out, kind)
  local id = get_count(r)
  if id == 0 or out.funcs[id] then fail(r, "function %d defined twice", id) end
  local func = { id = id, kind = kind, flags = get_count(r) }
  out.funcs[id] = func
  return func
end

-- PROTO
records[2] = function(r, out)
  local f = define_func(r, out, "lua")
  f.addr, f.hash = get_uleb(r), get_uleb(r)
  f.first, f.lines = get_first(r), get_count(r)
  f.chunk, f.name = get_string(r), get_string(r)
  f.cut, f.stripped = band(f.flags, 1) ~= 0, band(f.flags, 2) ~= 0
  f.byhash = band(f.flags, 4) ~= 0
  if f.byhash and (f.first ~= 0 or not f.stripped) then fail(r, "a function with lines") end
  if f.name == "" then f.name = nil end
end

-- CFUNC
records[3] = function(r, out)
  local f = define_func(r, out, "c")
  f.addr, f.offset = get_uleb(r), get_count(r)
  f.module, f.symbol = get_string(r), get_string(r)
  f.builtin = band(f.flags, 1) ~= 0
  if band(f.flags, 4) ~= 0 then
    if f.builtin then fail(r, "a builtin with a symbol") end
    f.named, f.symbol = f.symbol, get_string(r)
  end
  if f.symbol == "" then f.symbol = nil end
end

-- TRACE
records[4] = function(r, out)
  local f = define_func(r, out, "trace")
  f.traceno = get_count(r)
  local id = get_count(r)
  f.start, f.line = out.funcs[id], get_count(r)
  if not f.start and out.dropped == 0 then
    fail(r, "trace of the undefined function %d", id)
  end
end

-- SITE
records[5] = function(r, out)
  local id, flags, func, line = get_count(r), get_count(r), get_count(r), get_count(r)
  local f = out.funcs[func]
  if id < 2 or out.sites[id] then fail(r, "site %d defined twice", id) end
  if not f and out.dropped == 0 then fail(r, "site of the undefined function %d", func) end
  if not f or (f.kind == "trace" and not f.start) then -- In a block that was dropped.
    out.undefined = out.undefined + 1
    out.sites[id] = unknown
    return
  end
  local s = lua_site(f, f.addr, line, flags)
  s.id, s.source = id, f.kind
  if f.kind ~= "lua" and line ~= 0 then fail(r, "line of a %s function", f.kind) end
  if f.kind == "c" then
    s.symbol, s.module, s.offset, s.named = f.symbol, f.module, f.offset, f.named
    s.builtin = f.builtin
  elseif f.kind == "trace" then
    s.traceno, s.line = f.traceno, f.line
    s.chunk, s.first = f.start.chunk, f.start.first
  end
  out.sites[id] = s
end

-- TIME
records[6] = function(r, out)
  local ns = get_count(r)
  if ns < out.time then fail(r, "time runs backwards") end
  out.time = ns
  out.times = out.times + 1
end

-- TOTALS
records[7] = function(r, out)
  local t = { flags = get_count(r) }
  t.alloc, t.realloc, t.free = get_count(r), get_count(r), get_count(r)
  t.bytes_in, t.bytes_out, t.live = get_count(r), get_count(r), get_count(r)
  t.lost, t.ns = get_count(r), get_count(r)
  t.foreign = { alloc = get_count(r), realloc = get_count(r), free = get_count(r),
                bytes_in = get_count(r), bytes_out = get_count(r) }
  t.swapped = band(t.flags, 1) ~= 0
  if band(t.flags, 16) ~= 0 then
    t.dropped = { blocks = get_count(r), events = get_count(r), bytes = get_count(r) }
    if t.dropped.blocks == 0 then fail(r, "TOTALS: dropped, or not") end
  end
  out.totals = t
  if out.dropped ~= (t.dropped and t.dropped.events or 0) then
    fail(r, "TOTALS has dropped %d events, not %d", t.dropped and t.dropped.events or 0,
         out.dropped)
  end
  if t.dropped then -- Of the rest, only the number of events is known.
    local all = t.alloc + t.realloc + t.free
    if all ~= out.nevents then fail(r, "TOTALS has %d events, not %d", all, out.nevents) end
    return
  end
  for _, kind in ipairs(kinds) do
    if t[kind] ~= out.counts[kind] then
      fail(r, "TOTALS has %d of %s, the stream %d", t[kind], kind, out.counts[kind])
    end
  end
  if t.bytes_in ~= out.bytes_in or t.bytes_out ~= out.bytes_out then
    fail(r, "TOTALS disagrees about the bytes")
  end
  for k, v in pairs(t.foreign) do
    if v ~= out.foreign[k] then
      fail(r, "TOTALS has %d foreign %s, the stream %d", v, k, out.foreign[k])
    end
  end
  if (t.lost ~= 0) ~= (band(t.flags, 2) ~= 0) then fail(r, "TOTALS: lost, or not") end
  if (out.sample ~= 0) ~= (band(t.flags, 4) ~= 0) then fail(r, "TOTALS: sampled, or not") end
end

-- A caller. Where blocks were dropped, its definition may be missing.
local function get_caller(r, out, site)
  if not out.sites[site] and out.dropped == 0 then
    fail(r, "caller at the undefined site %d", site)
  end
  return out.sites[site] or unknown
end

-- Counts an event outside of the VM's count.
local function count_foreign(out, ev)
  local f = out.foreign
  ev.foreign = true
  f[ev.kind] = f[ev.kind] + 1
  f.bytes_in, f.bytes_out = f.bytes_in + ev.nsize, f.bytes_out + ev.osize
end

-- FOREIGN
records[17] = function(r, out)
  local ev = out.last
  if not ev or ev.kind == "alloc" then fail(r, "FOREIGN is not behind its event") end
  count_foreign(out, ev)
  if out.on_foreign then out.on_foreign() end
end

-- STACK
records[15] = function(r, out)
  local flags, stack = get_count(r), {}
  if flags > 1 then fail(r, "flags %d of a stack", flags) end
  while r.pos <= r.stop do
    local site = get_count(r)
    stack[#stack + 1] = get_caller(r, out, site)
  end
  stack.cut = flags == 1
  out.stack = stack
end

-- DUMP
records[22] = function(r, out)
  local d = { id = get_uleb(r), events = get_count(r), ns = get_count(r) }
  if d.id == 0 then fail(r, "a dump without an id") end
  if d.events ~= out.nevents then fail(r, "dump at event %d, not %d", out.nevents, d.events) end
  if d.ns < out.time then fail(r, "a dump before its time") end
  out.dumps[#out.dumps + 1] = d
end

local function get_record(r, out, h)
  local code = rshift(h, 2)
  local len = get_count(r)
  if code < 1 or code > 31 then fail(r, "record 0x%02x", h) end
  if len > r.stop + 1 - r.pos then fail(r, "record of %d bytes is cut", len) end
  if out.totals then fail(r, "a record behind TOTALS") end
  local stop = r.stop
  r.stop = r.pos + len - 1
  if records[code] then records[code](r, out) end
  -- Bytes behind the known fields are allowed to later versions, not to ours.
  if r.pos <= r.stop then fail(r, "record %d is longer than its fields", code) end
  r.stop = stop
  return code
end

-- A change of the stack.
local function get_change(r, out, h)
  local stack = out.stack
  local pops, pushes = band(rshift(h, 4), 7), band(rshift(h, 2), 3)
  if pops == 7 then pops = 7 + get_count(r) end
  if pushes == 3 then pushes = 3 + get_count(r) end
  if pops > #stack then fail(r, "%d pops of a stack of %d", pops, #stack) end
  for _ = 1, pops do stack[#stack] = nil end
  for _ = 1, pushes do
    local site = get_count(r)
    stack[#stack + 1] = get_caller(r, out, site)
  end
end

-- The callers of an event, outermost first; cut says that there were more.
local function callers(out, kind, site)
  if out.depth <= 1 or kind == "free" or site == internal or site == unknown then return nil end
  local stack, list = out.stack, {}
  local from = math.max(1, #stack - (out.depth - 1) + 1)
  for i = from, #stack do list[#list + 1] = stack[i] end
  list.cut = stack.cut or from > 1
  return list
end

local types = { "array", "hash", "other", "string", "upvalue", "thread", "proto",
                "function", "trace", "cdata", "table", "userdata", "foreign" }

local function get_event(r, out, h, reg, ev)
  local kind = kinds[band(h, 3)]
  local same_size = band(h, 8) ~= 0
  local type_ = rshift(h, 4)
  ev.sampled = nil
  if kind == "realloc" and out.sample ~= 0 then
    ev.sampled, type_ = type_, 0
    if ev.sampled < 1 or ev.sampled > 3 then fail(r, "bad flags of a sample") end
  end
  local class = type_ -- Of a deallocation: the register of its size.
  if kind == "free" then type_ = 0 end
  if kind ~= "alloc" and type_ ~= 0 then fail(r, "object type in event 0x%02x", h) end
  if type_ > #types then fail(r, "unknown object type %d", type_) end
  ev.type = types[type_]
  if band(h, 4) == 0 then reg[kind] = get_count(r) end
  local site = out.sites[reg[kind]]
  if not site and out.dropped == 0 then
    fail(r, "event at the undefined site %d", reg[kind])
  elseif not site then
    out.undefined = out.undefined + 1
    site = unknown
  end
  ev.kind, ev.site, ev.time, ev.foreign = kind, site, out.time, nil
  ev.oaddr, ev.osize, ev.naddr, ev.nsize = nil, 0, nil, 0
  if kind == "realloc" then
    local o = add_zigzag(reg.A, get_uleb(r))
    reg.A = same_size and o or add_zigzag(o, get_uleb(r))
    ev.oaddr, ev.naddr = address(o), address(reg.A)
    ev.osize, ev.nsize = get_count(r), get_count(r)
  elseif kind == "alloc" then
    reg.A = add_zigzag(reg.A, get_uleb(r))
    local slot = reg.alloc % 256
    if not same_size then reg.asize[slot] = get_count(r) end
    ev.naddr, ev.nsize = address(reg.A), reg.asize[slot] or 0
  else
    reg.F = add_zigzag(reg.F, get_uleb(r))
    if not same_size then reg.fsize[class] = get_count(r) end
    ev.oaddr, ev.osize = address(reg.F), reg.fsize[class] or 0
  end
  ev.callers = callers(out, kind, site)
  if ev.type == "foreign" then count_foreign(out, ev) end
end

local function get_block(r, out, ev, on_event)
  local from = r.pos
  if sub(r.data, from, from + 3) ~= "ljb\16" then fail(r, "no block") end
  r.pos = from + 4
  local crc, len, first = get_fixed(r, 4), get_fixed(r, 4), get_fixed(r, 8)
  if len > 16 * 2 ^ 20 then fail(r, "block of %d bytes", len) end
  if len > r.stop + 1 - r.pos then fail(r, "block of %d bytes is cut", len) end
  if bit.tobit(crc) ~= crc32c(r.data, from + 8, r.pos + len - 1) then
    fail(r, "checksum of a block")
  end
  if first < out.nevents then fail(r, "event %d, not %d", first, out.nevents) end
  -- The recorder may drop blocks; then TOTALS has how many events.
  out.dropped = out.dropped + (first - out.nevents)
  out.nevents = first
  local stop = r.stop
  local reg = { alloc = 0, free = 0, realloc = 0, A = 0, F = 0, asize = {}, fsize = {} }
  local nth = 0
  out.stack = {}
  r.stop = r.pos + len - 1
  out.blocks, out.last = out.blocks + 1, nil
  while r.pos <= r.stop do
    local h = get_byte(r)
    nth = nth + 1
    if band(h, 0x83) == 0x80 then
      if nth == 1 or not out.meta then fail(r, "a stack too early") end
      get_change(r, out, h)
      out.last = nil
    elseif band(h, 3) == 0 then
      local code = get_record(r, out, h)
      out.last = nil
      if (nth == 1 and code ~= 6) then fail(r, "a block begins without TIME") end
      if out.blocks == 1 and nth == 2 and code ~= 1 then fail(r, "no META") end
    else
      if nth == 1 or not out.meta then fail(r, "an event too early") end
      if out.totals then fail(r, "an event behind TOTALS") end
      get_event(r, out, h, reg, ev)
      emit(out, ev, on_event)
      out.last = ev
    end
  end
  r.stop = stop
end

local function decode_compact(r, out, on_event)
  out.format = "compact"
  out.sites = { [0] = internal, unknown }
  out.blocks, out.time, out.times, out.dumps = 0, 0, 0, {}
  out.depth, out.sample = 1, 0
  out.dropped, out.undefined = 0, 0
  out.foreign = { alloc = 0, realloc = 0, free = 0, bytes_in = 0, bytes_out = 0 }
  out.vm = get_uleb(r)
  if get_byte(r) ~= SYM_FINAL then fail(r, "the symtab is not empty") end
  if get_prologue(r, "m") ~= 0x10 then fail(r, "version of the body") end
  local ev = { mark = false }
  while r.pos <= r.stop do get_block(r, out, ev, on_event) end
  if not out.totals then fail(r, "no TOTALS") end
  out.whole = true
end

-- Entry -----------------------------------------------------------------------

local versions = { [1] = decode_rfc, [3] = decode_tarantool, [0x10] = decode_compact }

-- Decodes a stream. on_event(ev) gets each event; ev is used again for the
-- next one. on_foreign() is called behind one of a deallocation or reallocation
-- that is outside of the VM's count. Returns what the stream says besides; if it
-- is not whole, error and offset tell why and where.
function M.stream(data, on_event, on_foreign)
  local r = { data = data, pos = 1, stop = #data }
  local out = { whole = false, nevents = 0, bytes_in = 0, bytes_out = 0,
                counts = { alloc = 0, free = 0, realloc = 0 },
                funcs = {}, protos = {}, csyms = {}, traces = {},
                on_foreign = on_foreign }
  local ok, err = xpcall(function()
    out.version = get_prologue(r, "s")
    local decoder = versions[out.version]
    if not decoder then fail(r, "version %d", out.version) end
    decoder(r, out, on_event)
  end, function(e)
    return type(e) == "table" and e or { message = debug.traceback(e), offset = -1 }
  end)
  if not ok then out.error, out.offset = err.message, err.offset end
  return out
end

-- Decodes a stream into a list of its events.
function M.list(data)
  local list = {}
  local out = M.stream(data, function(e)
    list[#list + 1] = { kind = e.kind, site = e.site, time = e.time, mark = e.mark,
      type = e.type, callers = e.callers, sampled = e.sampled, foreign = e.foreign,
      oaddr = e.oaddr, osize = e.osize, naddr = e.naddr, nsize = e.nsize }
  end, function() list[#list].foreign = true end)
  out.events = list
  return out
end

-- META of a heap dump.
function M.dumpmeta(data)
  local r = { data = data, pos = 1, stop = #data }
  local out = { time = 0, times = 0 }
  if get_prologue(r, "s") ~= 0x10 then fail(r, "version of a dump") end
  get_uleb(r)
  if get_byte(r) ~= SYM_FINAL then fail(r, "the symtab is not empty") end
  if get_prologue(r, "d") ~= 0x10 then fail(r, "version of a dump's body") end
  r.pos = r.pos + 20 -- The header of its first block.
  if get_record(r, out, get_byte(r)) ~= 6 then fail(r, "no TIME") end
  if get_record(r, out, get_byte(r)) ~= 1 then fail(r, "no META") end
  return out.meta
end

-- The bytes of a file.
function M.slurp(name)
  local f = assert(io.open(name, "rb"))
  local data = f:read("*a")
  f:close()
  return data
end

return M

-- Heap dumps: each type of object with its size and references, options,
-- refusals, and dumps from wherever Lua code can run.

local H = require("harness")
if not H.has_ffi then H.skip("the decoder needs numbers of 64 bits") end
local dump = require("dump")
local memprof = misc.memprof

local path = H.path(".ljd")
local tabnew = require("table.new")

-- Dumps and decodes. What must hold of any dump is checked; making may be a
-- number of bytes that have no owner, or true for any. The dump before is given
-- up, as what the decoder makes of it would be ten times as many objects in the
-- next one.
local last

-- Writes a dump. Returns the VM's count. The first call may let the stack grow.
local function write(name, opt)
  local before, ok, err, after
  ok, err = memprof.dump("/dev/null", opt)
  before = H.count()
  ok, err = memprof.dump(name, opt)
  after = H.count()
  H.eq(ok, true, "result of dump (%s)", tostring(err))
  H.eq(after, before, "bytes after the dump")
  return before
end
H.off(write)

-- Decodes and checks it.
local function review(name, count, making)
  H.jit_switch(H.decoder_jit)
  local d = dump.read(name)
  H.jit_switch(H.jit)
  for i, fault in ipairs(dump.faults(d)) do
    if i <= 5 then H.ok(false, "%s", fault) end
  end
  H.eq(d.sums.total, count, "the VM's count")
  H.eq(d.meta.live, count, "live in META")
  if making ~= true then H.eq(d.sums.making, making or 0, "bytes in the making") end
  return d
end

local function take(opt, making)
  if last then last.list, last.at, last.roots = nil, nil, nil end
  collectgarbage()
  last = review(path, write(path, opt), making)
  return last
end
H.off(take)

-- What tests hand to the dump: found by its key in the registry's loaded table.
local T = {}
package.loaded["dump test"] = T

local function get(d, ...)
  local o = dump.root(d, "registry")
  for _, key in ipairs({ "_LOADED", "dump test", ... }) do
    o = o and dump.get(d, o, key)
  end
  return o
end

local function want(d, type, ...)
  local o = get(d, ...)
  H.eq(o and o.type, type, "type of %s", tostring((select(-1, ...))))
  return o or error("no object")
end

local function addr(v)
  return tonumber(("%p"):format(v):match("0x(%x+)"), 16)
end

-- The bytes that a call adds to the VM's count: the fewest of some, since the
-- JIT compiler may begin a trace in one.
local function cost(make, ...)
  local fewest, v = math.huge, nil
  collectgarbage()
  collectgarbage("stop")
  make(...)
  for _ = 1, 5 do
    local before = H.count()
    v = make(...)
    fewest = math.min(fewest, H.count() - before)
  end
  collectgarbage("restart")
  return fewest, v
end
H.off(cost)

-- Types -----------------------------------------------------------------------

H.case("strings", function()
  T.short, T.binary, T.long = "short" .. #path, "a\0b\255" .. #path, ("long"):rep(1000) .. #path
  local secret = "the secret is " .. math.random(1e8)
  T.secret = secret
  local n = 1e4
  local size = cost(function()
    n = n + 1
    T.fresh = tostring(n)
  end)
  local d = take()
  H.eq(d.meta.strings, 256, "strings in META")
  local s = want(d, "string", "short")
  H.eq(s.text, T.short, "text")
  H.eq(s.length, #T.short, "length")
  H.eq(s.addr, addr(T.short), "address")
  H.eq(want(d, "string", "binary").text, T.binary, "binary text")
  H.eq(want(d, "string", "long").text, T.long:sub(1, 256), "text that is cut")
  H.eq(want(d, "string", "long").length, #T.long, "length of text that is cut")
  H.eq(want(d, "string", "fresh").size, size, "size")
  local empty = d.at[addr("")]
  H.eq(empty and empty.size, 0, "size of the empty string")
  local reserved = d.at[addr("function")]
  H.eq(reserved and reserved.fixed, true, "a reserved word is fixed")
  H.eq(s.fixed, false, "another string is fixed")
  d = take({ strings = 4 })
  H.eq(d.at[addr(T.long)].text, "long", "4 bytes of text")
  d = take({ strings = 0 })
  H.eq(d.at[addr(T.long)].text, "", "no text")
  H.eq(d.at[addr(T.long)].length, #T.long, "length without text")
  H.eq(require("decode").slurp(path):find(secret, 1, true), nil, "place of the secret")
  d = take({ strings = 4096 })
  H.eq(d.at[addr(T.long)].text, T.long, "whole text")
end)

H.case("upvalues and Lua functions", function()
  local content, number = { "content" }, 1
  T.open = function() return content, number end
  T.closed = (function()
    local content, again = T.open(), { 2 }
    return function() again = content return again end
  end)()
  T.content = content
  local size = cost(function()
    local x = 1
    return function() return x end
  end)
  T.sized = (function() local x = 1 return function() return x end end)()
  local d = take()
  local fn = want(d, "function", "open")
  H.eq(fn.addr, addr(T.open), "address")
  H.eq(fn.c, false, "a C function")
  H.eq(dump.first(d, fn, "env"), dump.root(d, "_G"), "environment")
  local ups = dump.refs(fn, "upvalue")
  H.eq(#ups, 2, "upvalues")
  local up = d.at[ups[1].to]
  H.eq(up.open, true, "open")
  H.eq(dump.first(d, up, "content").addr, addr(content), "content of the open one")
  local current = dump.root(d, "current thread")
  H.ok(up.value >= current.stack and up.value < current.stack + current.stacksize, "it is on the stack")
  H.eq(#d.at[ups[2].to].refs, 0, "references of a number")
  local closed = dump.refs(want(d, "function", "closed"), "upvalue")
  H.eq(#closed, 2, "closed upvalues")
  for _, ref in ipairs(closed) do H.eq(d.at[ref.to].open, false, "open") end
  local sized = want(d, "function", "sized")
  H.eq(sized.size + d.at[dump.refs(sized, "upvalue")[1].to].size, size, "size of a function and its upvalue")
end)

H.case("prototypes", function()
  local chunk = assert(loadstring([[
local one, two = ...
return function(a)
  local s = "constant"
  return function()
    return one, two, a, s, "another constant", function() return 1 end
  end
end, { "in", a = "template" }]], "=proto.lua"))
  T.outer = chunk({}, {})
  T.inner = T.outer(1)
  local d = take()
  local outer = dump.first(d, want(d, "function", "outer"), "proto")
  H.eq(outer.type, "proto", "type")
  H.eq(outer.chunk, "=proto.lua", "chunk")
  H.eq(outer.first, 2, "first line")
  H.eq(outer.lines, 5, "lines")
  H.eq(outer.lineinfo, true, "line information")
  H.eq(table.concat(outer.uvnames, " "), "one two", "names of upvalues")
  local inner = dump.first(d, want(d, "function", "inner"), "proto")
  H.eq(table.concat(inner.uvnames, " "), "one two a s", "names of upvalues")
  local seen = {}
  for _, ref in ipairs(dump.refs(outer, "const")) do seen[#seen + 1] = d.at[ref.to].text or d.at[ref.to] == inner end
  table.sort(seen, function(a, b) return tostring(a) < tostring(b) end)
  H.eq(#seen, 2, "constants")
  H.eq(seen[1], "constant", "a constant")
  H.eq(seen[2], true, "the child")
  H.eq(dump.refs(outer, "link")[1].name, "chunk name", "link")
  H.eq(dump.first(d, outer, "link").text, "=proto.lua", "chunk name")
  H.eq(#dump.refs(inner, "const"), 2, "constants of the inner one")
  T.stripped = assert(loadstring(string.dump(chunk, true), "=stripped.lua"))
  d = take()
  local stripped = dump.first(d, want(d, "function", "stripped"), "proto")
  H.eq(stripped.lineinfo, false, "line information of stripped code")
  H.eq(#stripped.uvnames, 0, "names of upvalues in stripped code")
end)

H.case("C functions", function()
  T.sub, T.iterator = string.sub, ("a b"):gmatch("%a")
  local size = cost(string.gmatch, "a b", "%a")
  local d = take()
  local sub = want(d, "function", "sub")
  H.eq(sub.c, true, "a C function")
  H.ok(sub.ffid > 1, "number of the builtin is %d", sub.ffid)
  H.eq(sub.nup, 0, "upvalues")
  H.eq(dump.first(d, sub, "env"), dump.first(d, d.at[addr(string.rep)], "env"), "environment")
  local iterator = want(d, "function", "iterator")
  H.eq(iterator.nup, 3, "upvalues of gmatch's iterator")
  local refs = dump.refs(iterator, "upvalue")
  H.eq(#refs, 2, "of which are objects")
  H.eq(d.at[refs[1].to].text, "a b", "the first one")
  H.eq(refs[2].index, 2, "number of the second one")
  H.eq(iterator.size, size, "size")
end)

H.case("threads", function()
  local chunk = assert(loadstring([[
local function deep(first)
  local second, third = { 2 }, 3
  coroutine.yield(first)
  return second
end
return function(x)
  local mine = { x }
  return (deep(mine))
end]], "=thread.lua"))
  local body = chunk()
  T.co = coroutine.create(body)
  T.fresh = coroutine.create(body)
  T.dead = coroutine.create(function() end)
  coroutine.resume(T.dead)
  local _, mine = coroutine.resume(T.co, T)
  T.mine = mine
  local size = cost(coroutine.create, body)
  local d = take()
  local co = want(d, "thread", "co")
  H.eq(co.status, 1, "status of a thread that has yielded")
  H.eq(co.main or co.current, false, "main or current")
  H.eq(dump.first(d, co, "env"), dump.root(d, "_G"), "environment")
  local lines = {}
  for i, frame in ipairs(co.frames) do lines[i] = d.at[frame.fn].c and "C" or frame.line end
  H.eq(table.concat(lines, " "), "C 3 8", "lines of frames")
  H.eq(co.frames[3].fn, addr(body), "function of the lowest frame")
  local names = {}
  for _, ref in ipairs(dump.refs(co, "slot")) do if ref.name then names[ref.name] = ref end end
  H.eq(names.mine and names.mine.to, addr(mine), "the local mine")
  H.eq(names.first and names.first.to, addr(mine), "the local first")
  H.eq(names.x and names.x.to, addr(T), "the parameter x")
  H.ok(names.second and d.at[names.second.to].type == "table", "the local second")
  H.eq(names.third, nil, "a local that is a number")
  H.eq(names.first and names.first.frame, 2, "frame of first")
  H.eq(names.mine and names.mine.frame, 3, "frame of mine")
  local fresh = want(d, "thread", "fresh")
  H.eq(fresh.size, size, "size")
  H.eq(fresh.stacksize % 8 == 0 and fresh.size > fresh.stacksize, true, "bytes of the stack")
  H.ok(dump.first(d, fresh, "slot").addr == addr(body), "the body of a fresh thread")
  H.eq(#dump.refs(want(d, "thread", "dead"), "slot"), 0, "slots of a dead thread")
  local main = dump.root(d, "main thread")
  H.eq(main.main and main.current, true, "the main thread runs")
  H.eq(main, dump.root(d, "current thread"), "the current thread")
  local where
  for _, ref in ipairs(dump.refs(main, "slot")) do
    if ref.name == "body" then where = ref.to end
  end
  H.eq(where, addr(body), "the local body")
end)

H.case("tables", function()
  local u = newproxy(true)
  local f = print
  T.tab = { "one", { 2 }, false, nil, { 5 }, key = "value", [1.5] = { "half" }, [true] = 1, [2 ^ 40] = {},
    [-3] = "minus", [f] = u, [u] = false, [T] = T }
  T.tab[T.tab] = true
  T.meta = setmetatable({}, { __index = T })
  T.k = setmetatable({ [T] = "x", {} }, { __mode = "k" })
  T.v = setmetatable({ { 1 }, x = T, y = { 2 }, z = "text" }, { __mode = "v" })
  T.kv = setmetatable({}, { __mode = "kv" })
  local mt = {}
  T.later = setmetatable({}, mt)
  local _ = T.later.x
  mt.__mode = "v" -- Without a cache of what is not there.
  T.wrong = setmetatable({}, { __mode = 1 })
  T.sparse = tabnew(100, 60)
  T.sparse[3] = {}
  T.colo = { 1, 2, 3 }
  local d = take()
  local t = want(d, "table", "tab")
  local seen = {}
  for _, ref in ipairs(t.refs) do
    local k = ref.key
    if ref.from then k = d.at[ref.from].text or ref.from end
    seen[k] = ref
  end
  H.eq(d.at[seen[1].to].text, "one", "t[1]")
  H.eq(d.at[dump.refs(d.at[seen[2].to], "array")[1] and 0 or seen[2].to].type, "table", "t[2]")
  H.eq(seen[3], nil, "t[3], which is false")
  H.eq(d.at[seen[5].to].type, "table", "t[5]")
  H.eq(d.at[seen.key.to].text, "value", "t.key")
  H.eq(seen[true].value, 3, "value of t[true]")
  H.eq(d.at[seen[2 ^ 40].to].type, "table", "t[2^40]")
  H.eq(d.at[seen[-3].to].text, "minus", "t[-3]")
  H.ok(seen["bits 4609434218613702656"], "t[1.5]")
  H.eq(d.at[seen[addr(f)].to].type, "userdata", "a function as key")
  local udata = seen[addr(f)].to
  H.eq(seen[udata] and seen[udata].value, 1, "value of a userdata as key")
  H.eq(seen[t.addr].value, 2, "the table as its own key")
  H.eq(seen[addr(T)].to, addr(T), "key and value")
  H.eq(dump.first(d, want(d, "table", "meta"), "meta").type, "table", "metatable")
  local weak = { k = { true, false }, v = { false, true }, kv = { true, true }, later = { false, true },
    wrong = { false, false }, tab = { false, false } }
  for name, w in pairs(weak) do
    H.eq(want(d, "table", name).weakkey, w[1], "weak keys of %s", name)
    H.eq(want(d, "table", name).weakvalue, w[2], "weak values of %s", name)
  end
  local sparse = want(d, "table", "sparse")
  H.eq(sparse.asize, 101, "slots of the array")
  H.eq(sparse.aempty, 100, "empty slots")
  H.eq(sparse.hsize, 64, "slots of the hash part")
  H.eq(sparse.hempty, 64, "empty ones")
  H.eq(sparse.size, cost(tabnew, 100, 60), "size")
  H.eq(want(d, "table", "colo").array, nil, "address of an array within its table")
  H.eq(want(d, "table", "colo").size, cost(function() return { 1, 2, 3 } end), "size with an array within")
  for i = 4, 50 do T.colo[i] = i end
  d = take()
  local grown = d.at[addr(T.colo)]
  H.ok(grown.array, "address of an array that has grown")
  H.eq(grown.asize, 65, "its slots")
end)

H.case("a table that goes on in further blocks", function()
  local inner = {}
  T.large = { inner }
  for i = 2, 9000 do T.large[i] = i % 3 == 0 and i or { i } end
  for i = 1, 9000 do T.large["key" .. i] = inner end
  T.weak = setmetatable({}, { __mode = "k" })
  for i = 1, 9000 do T.weak[T.large[i]] = inner end
  local d = take()
  H.ok(d.blocks > 2, "%d blocks", d.blocks)
  local n, fields = 0, 0
  for _, ref in ipairs(want(d, "table", "large").refs) do
    if ref.kind == "array" then
      n = n + 1
      H.eq(addr(T.large[ref.key]), ref.to, "t[%d]", ref.key)
    else
      fields = fields + (ref.to == addr(inner) and 1 or 0)
    end
  end
  H.eq(n, 6000, "tables in the array")
  H.eq(fields, 9000, "fields")
  T.large, T.weak = nil
end)

H.case("userdata", function()
  T.proxy = newproxy(true)
  T.meta = getmetatable(T.proxy)
  T.plain = newproxy()
  T.file = io.stdout
  local d = take()
  local proxy = want(d, "userdata", "proxy")
  H.eq(dump.first(d, proxy, "meta").addr, addr(T.meta), "metatable")
  H.eq(dump.first(d, proxy, "env").type, "table", "environment")
  H.eq(dump.first(d, want(d, "userdata", "plain"), "meta"), nil, "no metatable")
  H.eq(want(d, "userdata", "plain").size, cost(newproxy), "size")
  H.eq(want(d, "userdata", "file").udtype, 1, "kind of a file")
  local has_buffer, buffer = pcall(require, "string.buffer")
  if not has_buffer then return end
  local dict = { "a", "b" }
  T.buf = buffer.new(1000, { dict = dict })
  T.buf:put(("x"):rep(5000))
  T.cow = buffer.new():set(("cow"):rep(100) .. "!")
  d = take()
  local buf = want(d, "userdata", "buf")
  H.ok(buf.bytes and buf.bytes >= 5000 and buf.block, "bytes of the buffer: %s", tostring(buf.bytes))
  local size, b = cost(function()
    local b = buffer.new()
    b:put(("y"):rep(100))
    return b
  end)
  T.sized = b
  H.eq(dump.refs(buf, "link")[1].name, "dictionary", "link")
  local cow = want(d, "userdata", "cow")
  H.eq(cow.bytes, nil, "bytes of a buffer that belong to a string")
  H.eq(dump.first(d, cow, "link").text, ("cow"):rep(100):sub(1, 256), "content")
  H.eq(want(take(), "userdata", "sized").size, size, "size with its buffer")
end)

if H.has_ffi then
  H.case("cdata", function()
    local ffi = require("ffi")
    ffi.cdef("struct dump_test { int x; double y[3]; };")
    local aligned = ffi.typeof("struct { int x __attribute__((aligned(64))); }")
    local vla = ffi.typeof("uint8_t[?]")
    T.plain = ffi.new("struct dump_test")
    T.fin = ffi.gc(ffi.new("struct dump_test"), type)
    T.unset = ffi.gc(ffi.gc(ffi.new("int[1]"), type), nil)
    T.vla, T.aligned = vla(999), aligned()
    T.int64, T.ctype, T.ns = ffi.new("int64_t", 1), ffi.typeof("struct dump_test"), ffi.C
    local d = take()
    local plain = want(d, "cdata", "plain")
    H.eq(plain.finalizer, false, "finalizer")
    H.eq(plain.base, nil, "base")
    H.eq(plain.ctype, tonumber(T.ctype), "type")
    H.eq(d.ctypes[plain.ctype].name, "dump_test", "name of the type")
    H.eq(d.ctypes[plain.ctype].size, 32, "size of the type")
    H.eq(plain.size, cost(T.ctype), "size")
    H.eq(want(d, "cdata", "fin").finalizer, true, "finalizer")
    H.eq(want(d, "cdata", "vla").size, cost(vla, 999), "size of an array")
    H.ok(want(d, "cdata", "vla").base < want(d, "cdata", "vla").addr, "base of an array")
    H.eq(want(d, "cdata", "aligned").size, cost(aligned), "size of what is aligned")
    H.eq(want(d, "cdata", "int64").size, cost(tonumber and function() return T.int64 + 1 end), "size of a number")
    H.eq(want(d, "userdata", "ns").udtype, 2, "kind of ffi.C")
    local finalizers = dump.root(d, "cdata finalizers")
    H.eq(finalizers.weakkey, true, "weak keys of the finalizers")
    H.eq(finalizers.weakvalue, false, "weak values of the finalizers")
    local found
    for _, ref in ipairs(finalizers.refs) do
      if ref.from == d.at[want(d, "cdata", "fin").addr].addr then found = d.at[ref.to] end
    end
    H.eq(found and found.addr, addr(type), "the finalizer")
  end)
end

if H.jit then
  H.case("traces", function()
    jit.flush()
    collectgarbage()
    local chunk = assert(loadstring([[
local t, s = ...
for i = 1, 500 do
  if i % 2 == 0 then t[1] = s else t[2] = t end
end]], "=trace.lua"))
    T.chunk, T.kept = chunk, {}
    for _ = 1, 50 do chunk(T.kept, "s") end -- An attempt may fail for reasons of its own.
    local d = take()
    local proto = dump.first(d, want(d, "function", "chunk"), "proto")
    local n, side = 0, 0
    for _, o in ipairs(d.list) do
      if o.type == "trace" and dump.first(d, o, "link") == proto then
        n = n + 1
        side = side + (o.root ~= 0 and 1 or 0)
        H.eq(dump.refs(o, "link")[1].name, "start", "the first link")
        H.ok(require("jit.util").traceinfo(o.number), "trace %d", o.number)
      end
    end
    H.ok(n >= 2 and side >= 1 and side < n, "%d traces, %d of them of the side", n, side)
    local trace
    for _, ref in ipairs(dump.refs(proto, "link")) do
      if ref.name == "trace" then trace = d.at[ref.to] end
    end
    H.eq(trace and trace.type, "trace", "the prototype's trace")
    H.eq(trace and trace.root, 0, "its root")
    jit.flush()
    take() -- What is flushed has no number.
    collectgarbage()
    d = take()
    for _, o in ipairs(d.list) do
      H.ok(o.type ~= "trace" or o.number ~= 0, "a trace that was flushed and collected")
    end
  end)
end

H.case("light userdata", function()
  if not debug.upvalueid then return end -- They are of Lua 5.2.
  local x, y = 1, 2
  T.ids = {}
  local function f() return x, y end
  T.ids[1] = debug.upvalueid(f, 1)
  T.ids[debug.upvalueid(f, 2)] = true
  local d = take()
  local light
  for _, ref in ipairs(want(d, "table", "ids").refs) do
    if ref.key and tostring(ref.key):find("^bits") then light = ref end
  end
  H.ok(light, "a key that is light userdata")
end)

H.case("roots and parts", function()
  local d = take()
  H.eq(dump.root(d, "_G").addr, addr(_G), "_G")
  H.eq(dump.root(d, "registry").addr, addr(debug.getregistry()), "registry")
  H.eq(dump.root(d, "metatable of string").addr, addr(getmetatable("")), "strings' metatable")
  H.eq(dump.root(d, "io.output()").type, "userdata", "io.output()")
  H.eq(dump.root(d, "metatable of nil"), nil, "nil's metatable")
  debug.setmetatable(nil, {})
  debug.setmetatable(1, T)
  debug.setmetatable(true, T)
  debug.setmetatable(print, T)
  d = take()
  H.eq(dump.root(d, "metatable of nil").type, "table", "nil's metatable")
  for _, name in ipairs({ "number", "boolean", "function" }) do
    local root = dump.root(d, "metatable of " .. name)
    H.eq(root and root.addr, addr(T), "metatable of %s", name)
  end
  debug.setmetatable(nil, nil)
  debug.setmetatable(1, nil)
  debug.setmetatable(true, nil)
  debug.setmetatable(print, nil)
  for _, name in ipairs({ "global state", "string table", "string buffer" }) do
    H.ok(d.parts[name] and d.parts[name].size > 0, "part %s", name)
  end
end)

-- Options and refusals ----------------------------------------------------------

H.case("bad arguments", function()
  local f = {}
  local bad = {
    { "#1", nil }, { "#1", {} }, { "#2", path, 5 }, { "#2", path, "x" },
    { "options", path, { format = "compact" } }, { "options", path, { "x" } },
    { "strings", path, { strings = -1 } }, { "strings", path, { strings = 4097 } },
    { "strings", path, { strings = 1.5 } }, { "strings", path, { strings = "1" } },
    { "fd", nil, { fd = -1 } }, { "fd", nil, { fd = f } }, { "nil expected", path, { fd = 1 } },
    { "zero", "a\0b" },
  }
  for i, b in ipairs(bad) do
    local ok, message = pcall(memprof.dump, b[2], b[3])
    H.eq(ok, false, "arguments %d", i)
    H.ok(tostring(message):find(b[1], 1, true), "message %d is %s", i, tostring(message))
  end
end)

local function sh(command)
  local p = assert(io.popen(command .. " 2>&1"))
  local out = p:read("*a")
  p:close()
  return (out:gsub("\n$", ""))
end

local dir = H.path(".dumps")

local function fresh()
  os.execute(("rm -rf %s && mkdir -p %s"):format(H.quote(dir), H.quote(dir)))
end

local function refused(errno, pattern, ...)
  local ok, message, en = memprof.dump(...)
  H.eq(ok, false, "result")
  H.ok(tostring(message):find(pattern, 1, true), "message is %s", tostring(message))
  H.eq(en, errno, "errno")
end

H.case("files", function()
  fresh()
  local name = dir .. "/app.ljd"
  H.eq(memprof.dump(name), true, "dump")
  H.eq(sh("stat -c %a " .. H.quote(name)), "600", "mode")
  H.eq(sh("ls -A " .. H.quote(dir)), "app.ljd", "files")
  local sum = sh("sha256sum < " .. H.quote(name))
  os.execute(("cd %s && mkfifo fifo && mkdir folder && ln -s app.ljd link"):format(H.quote(dir)))
  local before = sh("ls -A " .. H.quote(dir))
  refused(2, "No such file", dir .. "/nothing/x.ljd")
  refused(20, "Not a directory", name .. "/x")
  refused(21, "Is a directory", dir .. "/folder")
  refused(40, "symbolic link", dir .. "/link")
  refused(6, "FIFO", dir .. "/fifo")
  refused(28, "No space", "/dev/full")
  refused(9, "Bad file descriptor", nil, { fd = 1000 })
  H.eq(sh("ls -A " .. H.quote(dir)), before, "files after refusals")
  H.eq(sh("sha256sum < " .. H.quote(name)), sum, "the file before")
  H.eq(memprof.dump(name), true, "the second dump")
  H.eq(sh("sha256sum < " .. H.quote(name .. ".old")), sum, "the file before has another name")
  H.eq(#dump.faults(dump.read(name)), 0, "faults of the second one")
  H.eq(memprof.dump("/dev/null"), true, "a dump to nowhere")
end)

H.case("a limit on the file's size", function()
  fresh()
  local name = dir .. "/app.ljd"
  local out, status = H.child(([[
local keep = {}
for i = 1, 20000 do keep[i] = { tostring(i) } end
print(misc.memprof.dump(%q))
collectgarbage()
print(misc.memprof.dump("/dev/full"))
print(misc.memprof.dump("/dev/null"))]]):format(name), "trap '' XFSZ; ulimit -f 64;")
  H.eq(status, 0, "exit status")
  H.ok(out:find("^false\t[^\n]*File too large\t27\nfalse\t[^\n]*No space[^\n]*\t28\ntrue\n$"), "output is %s", out)
  H.eq(sh("ls -A " .. H.quote(dir)), "", "files")
end)

H.case("a pipe that is closed, one that is slow", function()
  local out, status = H.child([[
for i = 1, 20 do
  local ok, message, errno = misc.memprof.dump(nil, { fd = 1 })
  if not ok then io.stderr:write(message, " ", errno, "\n") break end
end]], nil, "| sleep 0.1")
  H.eq(status, 0, "exit status")
  H.ok(out:find("Broken pipe 32", 1, true), "output is %s", out)
  fresh()
  local name = dir .. "/slow.ljd"
  out = H.child([[
local keep = {}
for i = 1, 20000 do keep[i] = { tostring(i) } end
io.stderr:write(tostring(misc.memprof.dump(nil, { fd = 1 })), "\n")]], nil,
    "| { sleep 0.1; cat > " .. H.quote(name) .. "; }")
  H.ok(out:find("true", 1, true), "output is %s", out)
  H.eq(#dump.faults(dump.read(name, true)), 0, "faults")
end)

H.case("100 refusals and dumps leave nothing behind", function()
  fresh()
  local name = dir .. "/x.ljd"
  last = nil
  collectgarbage()
  for _ = 1, 100 do
    memprof.dump(name)
    memprof.dump("/dev/full")
    pcall(memprof.dump, name, { strings = {} })
  end
  H.ok(tonumber(sh("ls /proc/$PPID/fd | wc -l")) < 20, "descriptors")
  H.eq(sh("ls -A " .. H.quote(dir)), "x.ljd\nx.ljd.old", "files")
end)

-- Places ------------------------------------------------------------------------

-- Code that calls d(); true: something may have no owner yet.
local places = {
  ["a coroutine"] = { function(d) coroutine.wrap(d)() end },
  ["a coroutine in another"] = { function(d)
    coroutine.wrap(function()
      local x = {}
      coroutine.wrap(function() d(x) end)()
    end)()
  end },
  ["a finalizer"] = { function(d)
    local done
    getmetatable(newproxy(true)).__gc = function()
      if not done then done = true d() end
    end
    collectgarbage()
    collectgarbage()
  end },
  ["a finalizer, while others wait"] = { function(d)
    local n = 0
    for _ = 1, 5 do
      local u = newproxy(true)
      getmetatable(u).__gc = function()
        n = n + 1
        if n % 2 == 0 then
          d()
        end
      end
    end
    collectgarbage()
    collectgarbage()
  end, check = function(d, i)
    H.ok(i ~= 1 or dump.root(d, "awaits its finalizer"), "what awaits its finalizer")
  end },
  ["a hook of lines"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "l")
    local x = 1
    x = x + 1
  end },
  ["a hook of calls"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "c")
    math.floor(1)
  end },
  ["a hook of returns"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "r")
    math.floor(1)
  end },
  ["a hook of counts"] = { function(d)
    debug.sethook(function() debug.sethook() d() end, "", 10)
    for i = 1, 100 do math.floor(i) end
  end },
  ["the reader of load()"] = { function(d)
    local parts = { "local a, b = {}, 'text' .. 1 ", "local function f(x) return x, a, b, 'constant' end ",
      "return f, { 1, 2, x = 3 }" }
    local n = 0
    assert(load(function()
      n = n + 1
      if n > 1 then d() end
      return parts[n]
    end))()
  end, true },
  ["the reader of load(), of bytecode"] = { function(d)
    local code = string.dump(assert(loadstring("local a = {} return function() return a, 'text' end")))
    local n = 0
    assert(load(function()
      n = n + 1
      d()
      return n <= #code and code:sub(n, n) or nil
    end))()
  end, true, once = 7 },
  ["sort"] = { function(d)
    local n = 0
    table.sort({ 3, 1, 2 }, function(a, b)
      n = n + 1
      if n == 2 then d() end
      return a < b
    end)
  end },
  ["gsub"] = { function(d)
    ("abc"):rep(500):gsub("b", function() if d then d() d = nil end return "xx" end)
  end },
  ["pcall and its handler"] = { function(d)
    pcall(d)
    xpcall(function() error({}) end, d)
    xpcall(function() local x = nil; x() end, d)
  end },
  ["an overflow of the stack"] = { function(d)
    local function f(x) local t = { x } return f(t), t end
    xpcall(f, function() if d then d() d = nil end end)
    if d then d() end -- Sometimes there is no room for the handler.
  end },
  ["metamethods"] = { function(d)
    local mt = {}
    local function m() d() return 1 end
    mt.__index, mt.__add, mt.__concat, mt.__eq, mt.__lt, mt.__call, mt.__newindex, mt.__tostring = m, m, m, m, m, m, m,
      function() d() return "x" end
    local t, u = setmetatable({}, mt), setmetatable({}, mt)
    local _ = t.x, t + 1, "a" .. t .. "b", t == u, t < u, t(1, 2)
    t.y = 1
    tostring(t)
  end },
  ["varargs and tail calls"] = { function(d)
    local function tail(...) return d(...) end
    local function v(...) local a = { ... } tail(...) return a end
    v(1, {}, "x", nil, v)
    select("#", v(unpack({ 1, 2, 3 }, 1, 200)))
  end },
  ["an iterator"] = { function(d)
    for k in function(_, i) i = (i or 0) + 1 if i == 1 then d() return i end end do local _ = k end
    for _ in pairs({ a = 1 }) do d() end
  end },
  ["another environment"] = { function(d)
    local env = setmetatable({}, { __index = _G })
    setfenv(function() d() end, env)()
  end },
  ["dofile"] = { function(d)
    local name = H.path(".do.lua")
    local f = assert(io.open(name, "w"))
    f:write("local d = ... \n_DUMP()\n")
    f:close()
    _G._DUMP = d
    dofile(name)
    _G._DUMP = nil
    os.remove(name)
  end },
}

-- Calls run with a function that dumps, and looks at the dumps when it is done.
local function dumps(run, making, once, check)
  local n, counts = 0, {}
  last = nil
  collectgarbage()
  run(H.off(function()
    n = n + 1
    if once and n % once ~= 1 then return end
    counts[#counts + 1] = 0
    counts[#counts] = write(path .. #counts)
  end))
  H.ok(n > 0, "it was not called")
  for i, count in ipairs(counts) do
    local d = review(path .. i, count, making)
    if check then check(d, i) end
    os.remove(path .. i)
  end
  take()
end

for name, place in pairs(places) do
  H.case("a dump in " .. name, function() dumps(place[1], place[2], place.once, place.check) end)
end

if H.has_ffi then
  H.case("a dump in a callback", function()
    local ffi = require("ffi")
    ffi.cdef("void qsort(void *base, size_t n, size_t size, int (*f)(const void *, const void *));")
    local a, f = ffi.new("int[3]", 3, 1, 2), nil
    dumps(function(d)
      function f() if d then d() d = nil end return 0 end
      T.cb = ffi.cast("int (*)(const void *, const void *)", f)
      ffi.C.qsort(a, 3, 4, T.cb)
    end)
    local found
    local d = take()
    for _, ref in ipairs(dump.root(d, "FFI metatables and callbacks").refs) do
      found = found or ref.to == addr(f)
    end
    H.ok(found, "the callback's function")
    T.cb:free()
  end)

  H.case("a dump in a finalizer of cdata", function()
    local ffi = require("ffi")
    dumps(function(d)
      for _ = 1, 3 do ffi.gc(ffi.new("int[4]"), function() d() end) end
      collectgarbage()
      collectgarbage()
    end, nil, nil, function(d, i)
      H.ok(i == 3 or dump.root(d, "awaits its finalizer").type == "cdata", "what awaits its finalizer")
    end)
  end)
end

if H.jit then
  for _, event in ipairs({ "bc", "trace", "record", "texit" }) do
    H.case("a dump at the JIT compiler's event " .. event, function()
      jit.flush()
      local n, whats = 0, {}
      local function watch(what)
        n = n + 1
        whats[what] = true
        -- A stop has made a trace of what was recorded.
        if n % 7 == 1 or n < 20 then H.eq(memprof.dump(path .. n), true, "dump") end
      end
      jit.attach(watch, event)
      jit.off(watch)
      assert(loadstring([[
local t = {}
for i = 1, 100 do t[i % 10 + 1] = { i, ("x"):rep(i) } end
for i = 1, 100 do local s = i % 3 == 0 and t or t[1] end
for i = 1, 100 do local s = tostring(i) .. "y" end]]))()
      jit.attach(watch)
      H.ok(n > 0, "no event")
      local making = false
      for i = 1, n do
        if i % 7 == 1 or i < 20 then
          H.jit_switch(H.decoder_jit)
          local d = dump.read(path .. i)
          H.jit_switch(H.jit)
          H.eq(dump.faults(d)[1], nil, "event %d", i)
          -- The parser runs at the first one.
          H.ok(event == "bc" or d.sums.making == 0, "%d bytes in the making at event %d", d.sums.making, i)
          local root = dump.root(d, "the trace in the making")
          if root then making = root.type == "proto" end
          os.remove(path .. i)
        end
      end
      if event == "record" then H.ok(making, "the prototype of a trace in the making is no root") end
      take()
    end)
  end
end

H.case("dumps while it records", function()
  for _, format in ipairs({ "compact", "rfc", "tarantool" }) do
    local d
    local s = H.record(function()
      T.during = { {}, {} }
      d = 0
      for i = 1, 50 do
        T.during[i] = { i }
        if i % 10 == 0 then
          d = d + (memprof.dump(path) and 1 or 0)
        end
      end
    end, { format = format })
    H.eq(d, 5, "dumps")
    H.ok(s.nevents > 50, "%d events", s.nevents)
    local whole = dump.read(path)
    H.eq(dump.faults(whole)[1], nil, "faults")
    H.eq(whole.sums.making, 0, "bytes in the making")
  end
end)

-- Phases ------------------------------------------------------------------------

-- The numbers at the end, without decoding what is before them.
local function sums_of(name)
  local f = assert(io.open(name, "rb"))
  f:seek("end", -100)
  local data = f:read(100)
  f:close()
  local numbers, v, scale = {}, 0, 1
  for pos = 88, 1, -1 do
    local a, b, c = data:byte(pos, pos + 2)
    if a == 84 and b >= 128 and b - 128 + c * 128 == 100 - pos - 2 then
      for i = pos + 3, 100 do
        b = data:byte(i)
        v, scale = v + b % 128 * scale, scale * 128
        if b < 128 then
          numbers[#numbers + 1] = v
          v, scale = 0, 1
        end
      end
      return numbers
    end
  end
end

local slurp = require("decode").slurp

H.case("each phase of the collector", function()
  last = nil
  collectgarbage()
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
      local sums = sums_of(path)
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
  take()
end)

-- What is about to be freed ------------------------------------------------------

H.case("a chunk's name behind a prototype that is garbage", function()
  -- They have the same chunk, and are neighbours in the collector's list.
  last = nil
  collectgarbage()
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
      local garbage = sums_of(path)[4]
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
os.execute("rm -rf " .. H.quote(dir))
H.done()

-- Heap dumps: each type of object with its size and references, the roots.

local H = require("harness")
local dumping = require("dumping")
local dump = require("dump")
local T, take, want, addr = dumping.T, dumping.take, dumping.want, dumping.addr
local path = dumping.path
local tabnew = require("table.new")

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
  H.eq(d.defined[inner.addr], "", "name of a function that is returned")
  H.eq(d.defined[outer.addr], "", "name of one that a chunk returns")
  H.eq(dump.refs(outer, "link")[1].name, "chunk name", "link")
  H.eq(dump.first(d, outer, "link").text, "=proto.lua", "chunk name")
  H.eq(#dump.refs(inner, "const"), 2, "constants of the inner one")
  T.stripped = assert(loadstring(string.dump(chunk, true), "=stripped.lua"))
  d = take()
  local stripped = dump.first(d, want(d, "function", "stripped"), "proto")
  H.eq(stripped.lineinfo, false, "line information of stripped code")
  H.eq(#stripped.uvnames, 0, "names of upvalues in stripped code")
end)

H.case("names by definition", function()
  local chunk = assert(loadstring([[
local M = ...
local function one() end
M.two = function() end
function M.three() end
four = function() end
M.five = { six = function() end, [7] = function() end }
local long = function() end
M]] .. ("x"):rep(300) .. [[ = { field = function() end }
pcall(function() end)
function M.]] .. ("y"):rep(300) .. [[() end
return one, long]], "=names.lua"))
  T.chunk = chunk
  local function names(d)
    local list = {}
    for _, ref in ipairs(dump.refs(dump.first(d, want(d, "function", "chunk"), "proto"), "const")) do
      local o = d.at[ref.to]
      if o.type == "proto" then list[o.first] = (list[o.first] or "") .. d.defined[o.addr] .. ";" end
    end
    return list
  end
  local list = names(take())
  for i, name in ipairs({ false, "one;", "M.two;", "M.three;", "four;" }) do
    H.eq(list[i] or false, name, "names of functions at line %d", i)
  end
  H.ok(list[6] == "six;;" or list[6] == ";six;", "names of functions at line 6: %s", list[6])
  H.eq(list[7], "long;", "name of a local variable")
  H.eq(list[8], "field;", "name of a field")
  H.eq(list[9], ";", "name of an argument")
  H.eq(list[10], "M." .. ("y"):rep(198) .. ";", "name that is cut")
  T.chunk = assert(loadstring(string.dump(chunk, true), "=stripped.lua"))
  list = names(take())
  H.ok(list[0]:find("two;", 1, true), "names of functions in stripped code: %s", list[0])
  T.chunk = nil
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
end, function(...)
  local own = ...
  return (coroutine.yield(own))
end]], "=thread.lua"))
  local body, vararg = chunk()
  T.varargs = coroutine.create(vararg)
  coroutine.resume(T.varargs, T)
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
  local varargs = want(d, "thread", "varargs")
  lines = {}
  for i, frame in ipairs(varargs.frames) do lines[i] = d.at[frame.fn].c and "C" or frame.line end
  H.eq(table.concat(lines, " "), "C 11", "lines of frames of a vararg function")
  local seen = {}
  for _, ref in ipairs(dump.refs(varargs, "slot")) do
    if ref.frame == 2 then seen[#seen + 1] = (ref.name or "") .. (ref.to == addr(T) and "T" or "") end
  end
  table.sort(seen)
  H.eq(table.concat(seen, " "), "T ownT", "slots of a vararg function")
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

os.remove(path)
os.remove(path .. ".old")
H.done()

-- Makes each kind of object that the VM needs several allocations for, by each
-- of its ways to do it. In between, nothing but a register has it.

local function library(name)
  local ok, lib = pcall(require, name)
  return ok and lib
end

local ffi, buffer, clone = library("ffi"), library("string.buffer"), library("table.clone")

-- Many prototypes with constants of all kinds, in one chunk.
local function source(round)
  local code = { "local a, b, c, d = 1, 2, 3, 4\n" }
  for i = 1, 20 do
    code[#code + 1] = ([[
      local function f%d(x)
        return { x, %d, "text %d %d", key%d = 7 }, a, b, function() return f%d, c, x end
      end
    ]]):format(i, i, i, round, i, math.max(1, i - 1))
  end
  code[#code + 1] = "return f20(1)"
  return table.concat(code)
end

local function cdata(keep, round)
  ffi.cdef(("typedef struct { int x; double y[20]; } steps_%d; int steps_f_%d(int);"):format(round, round))
  local s = "steps_" .. round
  keep.ct = ffi.metatype(s, { __index = { method = function() end } })
  keep.object = ffi.new(s)
  keep.final = ffi.gc(ffi.new("int[100]"), function() end)
  keep.wide = 12345678901LL * round
end

local function serial(keep, round)
  local text = buffer.encode({ list = { 1, 2, { 3, { [{ 1 }] = { 2 } } } }, ["new" .. round] = { x = { y = round } } })
  keep.decoded = buffer.decode(text)
end

-- A function that has more slots than a new stack.
local locals = {}
for i = 1, 150 do locals[i] = "v" .. i end
local wide = assert(loadstring("local x = ... local " .. table.concat(locals, ",") .. " = x, {x} return v2"))

local keep = {}
for round = 1, 3 do
  local a, b, c = {}, {}, {}
  keep.closure = function() return a, b, c end
  keep.thread = coroutine.create(function() return a end)
  keep.wrapped = coroutine.wrap(function() coroutine.yield(b) end)
  keep.wrapped()
  for i = 1, 20 do keep.wide = coroutine.wrap(wide)({ i }) end
  local f = assert(loadstring(source(round)))
  keep.results = { f() }
  keep.read = { assert(loadstring(string.dump(f)))() }
  if buffer and buffer.encode then serial(keep, round) end
  if ffi then cdata(keep, round) end
  if clone then keep.clone = clone({ 1, 2, a = {}, b = 2 }) end
  keep.text = ("abc"):rep(50 * round):gsub("b", function(x) return x .. round end)
  keep.weak = setmetatable({}, { __index = function(_, k) return { k } end, __mode = "k" })
  keep.weak[{}] = {}
  keep.proxy = newproxy(true)
  getmetatable(keep.proxy).__gc = function() keep.last = { round } end
  pcall(error, { round })
  xpcall(function() local n = nil; return n.b end, function(m) return { m } end)
  keep.trace = debug.traceback(coroutine.create(function() end))
  keep.file = io.tmpfile()
  keep.file:close()
  local x = {}
  for i = 1, 70 do
    x[i] = i
    x["key" .. i] = {}
  end
  keep.list = { unpack(x) }
  keep.node = nil
  for i = 1, 200 do keep.node = { i, { keep.node } } end
  setfenv(keep.closure, setmetatable({}, { __index = _G }))
end

-- The program of which the golden recordings are: each kind of location, type
-- and stack in little space. It runs for two tenths of a second of CPU time,
-- so that a sampler sees it, too.
--
--   luajit prog.lua FILE [OPTIONS]     OPTIONS: a Lua table, "{stack = 64}"

local memprof = misc and misc.memprof or require "memprof"
local fname, options = arg[1], loadstring("return " .. (arg[2] or "nil"))()

local vec = {}
vec.__add = function(a, b) return setmetatable({ a[1] + b[1] }, vec) end
vec.__index = function(t, k) return { k } end

local function leaf(n)
  return { n, tostring(n) .. "x", {} }
end

local function deep(n)
  if n == 0 then return leaf(n) end
  local t = { deep(n - 1) }
  return t
end

local function generate(n)
  return coroutine.wrap(function()
    for i = 1, n do coroutine.yield({ i }) end
  end)
end

local function spin(seconds)
  local from, n = os.clock(), 0
  while os.clock() - from < seconds do
    for i = 1, 1000 do n = n + i % 7 end
  end
  return n
end

local keep = {}

local function work()
  local v = setmetatable({ 1 }, vec)
  for i = 1, 150 do
    keep[i % 23] = leaf(i)
    keep[i % 7] = deep(i % 12)
    v = v + v
    keep.v = v.field
    if i % 60 == 0 then collectgarbage() end
  end
  for t in generate(60) do keep.t = t end
  keep.s = string.rep("y", 70000)
  keep.g = ("a-b-c"):gsub("%w", function(c) return c .. #keep end)
  table.sort({ 3, 1, 2 }, function(a, b) keep.c = { a } return a < b end)
  keep.late = assert(loadstring(
    "local t = {} for i = 1, 50 do t[i] = { i } end return t", "=late"))()
  pcall(error, { "thrown" })
  keep.p = newproxy and newproxy(true)
  local ok, ffi = pcall(require, "ffi")
  if ok then
    for i = 1, 80 do keep.cdata = ffi.new("int[?]", i) end
  end
end

if fname ~= "" then assert(memprof.start(fname, options)) end
work()
spin(0.1)
work()
spin(0.1)
if fname ~= "" then assert(memprof.stop()) end

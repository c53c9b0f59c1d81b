-- Random heaps with weak tables, coroutines, upvalues, finalizers and cdata:
-- most of a heap is given up, then dumps are taken before, between and after
-- full collections.
--
--   luajit heaps.lua SEED DIRECTORY [off]

local seed, dir = tonumber(arg[1]), arg[2]
if arg[3] == "off" then jit.off() end
math.randomseed(seed)

local random = math.random
local has_ffi, ffi = pcall(require, "ffi")
local has_buffer, buffer = pcall(require, "string.buffer")
local modes = { "k", "v", "kv", "kv", "x", "" }
local names = { dir .. "/1.ljd", dir .. "/2.ljd", dir .. "/3.ljd", dir .. "/4.ljd" }

ROOT = {}

local pool = {}

local function any() return pool[random(#pool)] end

local nth = 0
local function text()
  nth = nth + 1
  return ("text %d of %d"):format(nth, seed)
end

-- A value: an object of the pool, often, or a string that nobody else has.
local function value() return random(4) == 1 and text() or any() end

local function finalizer()
  local a, b = any(), text()
  return function() return a, b end
end

local make = {
  function() return {} end,
  function() return { any(), value(), x = value() } end,
  function() return setmetatable({}, { __mode = modes[random(#modes)] }) end,
  function() return setmetatable({ value(), value() }, { __mode = modes[random(#modes)], __index = any() }) end,
  function() return setmetatable({}, any and { __mode = text() .. "kv" }) end,
  function()
    local a, b = any(), value()
    return function() a = b return a end
  end,
  function() -- Two closures share an upvalue; one is kept by the other's table.
    local a = value()
    return { function() return a end, function(x) a = x end }
  end,
  function() -- A thread with locals, whose upvalue is open in another object.
    local out
    local co = coroutine.create(function(x)
      local a, b = any(), value()
      out = { function() return a end }
      coroutine.yield(b, x)
      return a
    end)
    coroutine.resume(co, any())
    pool[#pool + 1] = out
    return co
  end,
  function() return coroutine.create(finalizer()) end,
  function()
    local co = coroutine.wrap(function(...) return ... end)
    co(any())
    return co
  end,
  function() return newproxy() end,
  function()
    local u = newproxy(true)
    local mt = getmetatable(u)
    mt[1] = any()
    if random(2) == 1 then mt.__gc = finalizer() end
    return random(3) == 1 and newproxy(u) or u
  end,
  function()
    local u = newproxy(true)
    debug.setfenv(u, { any() })
    getmetatable(u).__gc = type -- Others resurrect what they refer to.
    getmetatable(u).self = random(2) == 1 and u or any()
    return u
  end,
  function() return loadstring("local a = ... return '" .. text() .. "', { 1, '" .. text() .. "' }") end,
  function() return setfenv(loadstring("return function() return x end"), { x = any() })() end,
  function() return ("a"):gmatch(text()) end,
}

if has_ffi then
  make[#make + 1] = function() return ffi.new("int[4]") end
  make[#make + 1] = function() return ffi.gc(ffi.new("int[4]"), finalizer()) end
  make[#make + 1] = function() return ffi.gc(ffi.new("char[?]", 50), type) end
end
if has_buffer then
  make[#make + 1] = function() return buffer.new():set(text()) end
  make[#make + 1] = function() return buffer.new({ dict = { text(), text() } }):put(text()) end
end

local function refer(t)
  if type(t) ~= "table" then return end
  if random(2) == 1 then t[#t + 1] = value() else t[value()] = value() end
  if random(6) == 1 then t[any()] = t end
end

local function fill(n)
  for i = 1, 5 do pool[i] = {} end
  for _ = 1, n do pool[#pool + 1] = make[random(#make)]() end
  for _ = 1, 3 * n do refer(any()) end
end

-- What is kept, strongly or not; the rest goes with the pool.
local function keep(n)
  for _ = 1, n do ROOT[#ROOT + 1] = any() end
  ROOT.weak = setmetatable({}, { __mode = modes[random(4)] })
  for _ = 1, n do ROOT.weak[any()] = value() end
end

local function steps(n)
  for _ = 1, n do collectgarbage("step", 0) end
end

local function main()
  collectgarbage()
  if seed % 3 == 0 then collectgarbage("setstepmul", 1) end
  collectgarbage("stop")
  fill(random(20, 400))
  keep(random(12))
  if seed % 3 == 0 then -- In any phase of the collector.
    steps(random(50))
    pool = nil
    steps(random(3000))
  end
  pool, make = nil, nil
end

main()
main, fill, keep, steps, refer, finalizer, value, any, make = nil, nil, nil, nil, nil, nil, nil, nil, nil
local dump, collect = misc.memprof.dump, collectgarbage
collect("stop")
assert(dump(names[1]))
collect()
assert(dump(names[2]))
collect()
assert(dump(names[3]))
collect()
assert(dump(names[4]))

-- Records a program that allocates here and there, in several ways.
--
--   luajit record.lua DIRECTORY

local dir = arg[1]

local function leaf(n)
  return { n, tostring(n) .. "x", {} }
end

local function twice(n)
  local t = { leaf(n), leaf(n + 1) }
  t[#t + 1] = leaf(n + 2)
  return t
end

local function deep(n)
  if n == 0 then return twice(1) end
  local t = { deep(n - 1) }
  return t
end

local function work()
  local keep = {}
  for i = 1, 200 do
    keep[i % 17] = twice(i)
    keep[i % 5] = deep(i % 9)
    if i % 50 == 0 then collectgarbage() end
  end
  assert(loadstring("local t = {} for i = 1, 50 do t[i] = { i } end return t", "=late"))()
  keep[0] = coroutine.wrap(function() return { string.rep("y", 5000) } end)()
  return keep
end

local function record(name, options)
  assert(misc.memprof.start(dir .. "/" .. name, options))
  work()
  assert(misc.memprof.stop())
end

record("sites.ljm", {})
record("stacks.ljm", { stack = 8 })
record("samples.ljm", { stack = 64, sample = 2000 })
record("field.ljm", { format = "tarantool" })
record("rfc.ljm", { format = "rfc" })

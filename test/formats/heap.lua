-- Dumps a heap in which there is something of everything, twice: more of it is
-- there the second time. The recording of it is DIRECTORY.ljm.
--
--   luajit heap.lua DIRECTORY

local dir = arg[1]

local function counter()
  local hits = {}
  return function() hits[#hits + 1] = {} return hits end
end

local function users(n)
  local list = {}
  for i = 1, n do
    list[i] = { id = i, name = "user" .. i, tags = { "tag" .. i % 10, { i } } }
  end
  return list
end

assert(misc.memprof.start(dir .. ".ljm"))
cache = { users = users(300), shared = {} }
cache.users[17].session = { cache.shared, big = ("s"):rep(5000) }
for i = 1, 50 do cache.users[i].shared = cache.shared end

-- Keys and values that JSON cannot have as they are.
odd = {
  ["nul\0key"] = "nul\0value", ["bad\255\254"] = "\200\201", ['q"\\<'] = '"\\</script>\n\t',
  ["\195\169\226\152\131"] = ("\195\169"):rep(3000), ["\237\160\128"] = "\240\159\152", [""] = "",
  [-5] = {}, [1.5] = {}, [2 ^ 40] = {}, [true] = {}, [{}] = { 1, {} }, [print] = {},
}

-- What is kept by weak references alone is garbage; but strings are values.
collectgarbage("stop")
weak = setmetatable({ false, false, false, false }, { __mode = "v" })
weak[1], weak.named, weak[3] = cache.users[1], cache.users[2], "weak " .. #cache.users
weak[2], weak.lost = {}, { "lost" }
ephemeral = setmetatable({ [cache.users[3]] = { "by key" } }, { __mode = "k" })

functions = {}
for i = 1, 20 do functions[i] = counter() end
Class = { __name = "my.Class" }
Class.__index = Class
object = setmetatable({ x = 1 }, Class)
proxy = newproxy(true)
thread = coroutine.create(function(first)
  local kept = { first, ("kept"):rep(200) }
  coroutine.yield(kept)
end)
coroutine.resume(thread, {})
local ok, ffi = pcall(require, "ffi")
if ok then data = ffi.new("struct { int a; double b[10]; }") end
chain = {}
local last = chain
for i = 1, 500 do
  last.next = { i }
  last = last.next
end
for _ = 1, 100 do last = { last } end
last = nil

assert(misc.memprof.dump(dir .. "/one.ljd", { strings = 4096 }))
for i = 1, 100 do cache.users[#cache.users + 1] = { id = i, later = {} } end
cache.users[20] = nil
assert(misc.memprof.dump(dir .. "/two.ljd", { strings = 8 }))
assert(misc.memprof.dump(dir .. "/private.ljd", { strings = 0 }))
assert(misc.memprof.stop())

-- What is replaced, what moves in a list, and what has a key without a name.
local function fill(n, f)
  local t = {}
  for i = 1, n do t[i] = f(i) end
  return t
end
local function settle(name)
  collectgarbage()
  collectgarbage()
  assert(misc.memprof.dump(dir .. "/" .. name .. ".moved")) -- Not for all tests.
end
moved = {
  one = fill(4000, function(i) return { stale = i } end),
  queue = fill(8, function() return fill(1000, function(i) return { job = i } end) end),
  bykey = { [{}] = fill(5, function(i) return { value = i } end) },
}
settle("three")
moved.two = fill(4000, function(i) return { fresh = i } end)
moved.one = nil
table.remove(moved.queue, 1)
moved.bykey[{}] = fill(6000, function(i) return { value = i } end)
settle("four")

-- Dumps of heaps that pages are made of:
--
--   luajit heap.lua DIRECTORY
--
-- app.ljd: sessions that a cache keeps, and a list; hostile.ljd: names that are
-- not meant well; made.ljd with its recording; equal.ljd: rows of equal figures;
-- before.ljd, between.ljd, after.ljd: what came, went, grew and was replaced; shared.ljd: what two tables keep; weak.ljd: a cache with weak keys; handles.ljd: cdata with finalizers; large.ljd: more and longer names than a page
-- has room for.

local dir = arg[1]
local options = { strings = 4096 }

local function dump(name)
  collectgarbage()
  assert(misc.memprof.dump(dir .. "/" .. name .. ".ljd", options))
end

-- What the program is that the page is to explain.
local Session = { __name = "Session" }
cache = { users = {}, pages = {} }
for i = 1, 2000 do
  cache.users["user" .. i] = setmetatable({ id = i, cart = { { price = i } } }, Session)
end
for i = 1, 40 do cache.pages[i] = ("page " .. i):rep(50) end
local log
for i = 1, 1500 do log = { before = log, line = "request " .. i } end
_G.logger = function() return log end
timers = {}
for i = 1, 10 do
  timers[i] = coroutine.create(function(s) coroutine.yield(s) end)
  coroutine.resume(timers[i], "timer " .. i)
end
collectgarbage("stop")
local function waste()
  for i = 1, 500 do cache.wasted = { i, {} } end
  cache.wasted = nil
end
waste()
assert(misc.memprof.dump(dir .. "/app.ljd", options))
collectgarbage("restart")
cache, timers, logger, log = nil, nil, nil, nil

-- Keys, values, class and chunk names.
local names = {
  "</script><script>window.pwned=1</script>", "<!--<script>",
  "<img src=x onerror=window.pwned=1>", "\"'`${window.pwned=1}&lt;",
  "nul\0behind", "not\255\195utf8\237\160\128", "\226\128\174rtl \215\169\215\156",
  "semi;colon\nline\ttab\226\128\168", "__proto__", "constructor", ".*(", ("W"):rep(4096),
}
hostile = {}
for i, name in ipairs(names) do
  local chunk = loadstring("local x = ... return function() return x end", "=" .. name)
  hostile[name] = {
    [name] = name .. i, f = chunk({ name }),
    o = setmetatable({ ("fill"):rep(1000) .. i }, { __name = name }),
  }
end
_G[names[1]] = { hostile[names[1]], ("much"):rep(100000) }
dump("hostile")
hostile, _G[names[1]] = nil, nil

-- What was recorded, too.
local function remember(i) cache[i] = { id = i, text = "text " .. i } end
cache = {}
assert(misc.memprof.start(dir .. "/made.ljm"))
for i = 1, 1000 do remember(i) end
dump("made")
assert(misc.memprof.stop())
cache = nil

-- Caches in upvalues, which keep what their tables keep; equal caches; chains
-- and a ring, whose objects keep almost the same.
local function cached(name, n)
  local cache = {}
  for i = 1, n do cache[i] = { id = i, title = name .. " no. " .. i } end
  equal[name] = { find = function(id) return cache[id] end }
end
equal = {}
for i, name in ipairs({ "countries", "streets", "rivers" }) do cached(name, 400 - 50 * i) end
for i = 1, 4 do cached("same" .. i, 300) end
equal.chain = {}
local last = equal.chain
for i = 1, 8 do
  last.next = { ["at" .. i] = ("x"):rep(20) }
  last = last.next
end
equal.ring = { first = { big = {} } }
for i = 1, 1500 do equal.ring.first.big[i] = {} end
equal.ring.first.second = { third = { back = equal.ring.first } }
dump("equal")
equal, last = nil, nil

-- A list and an index of the same; without one of them all stays.
units, by_name = {}, {}
for i = 1, 2000 do
  units[i] = { name = "unit-" .. i, way = { i, i, i } }
  by_name[units[i].name] = units[i]
end
dump("shared")
units, by_name = nil, nil

-- Thumbnails that refer to their keys, of images that nothing else has.
thumbnails = setmetatable({}, { __mode = "k" })
for i = 1, 1000 do
  local image = { width = i, height = i }
  thumbnails[image] = { image = image, pixels = { i, i, i } }
end
dump("weak")
thumbnails = nil

-- Memory of C, which finalizers free.
local ffi = require("ffi")
handles = {}
local function release() end
for i = 1, 50 do handles[i] = ffi.gc(ffi.new("int[4]"), release) end
dump("handles")
handles = nil

-- Two dumps: users that came, a list that went, one that is new, one whose
-- entries are others, one that was small, and one that is as it was.
local function fill(n, f)
  local t = {}
  for i = 1, n do t[i] = f(i) end
  return t
end
local function user(i) app.users["u" .. i] = setmetatable({ id = i, cart = { i } }, Session) end
app = {
  users = {}, old = fill(2000, function(i) return { stale = i } end),
  pages = fill(1000, function(i) return { page = "page " .. i } end),
  same = fill(1500, function(i) return { keep = i } end), small = { 1 },
}
for i = 1, 1000 do user(i) end
dump("before")
for i = 1001, 2000 do user(i) end
app.batch = fill(4000, function(i) return { batch = i } end)
dump("between")
app.batch = nil
for i = 2001, 4000 do user(i) end
app.old = nil
for i = 1, 1000 do app.pages[i] = { page = "again " .. i } end
app.small = fill(1500, function(i) return { grown = i } end)
sessions = fill(2500, function(i) return { session = i, name = "s" .. i } end)
dump("after")
app, sessions = nil, nil

-- A tree of equal parts, in which each table has keys of its own.
local count = 0
local function grow(depth)
  if depth == 0 then return { 1, 2, 3, 4, 5, 6, 7, 8 } end
  local t = {}
  for i = 1, 10 do
    count = count + 1
    t[("<"):rep(6) .. count .. ("<"):rep(200)] = grow(depth - 1)
  end
  return t
end
tree = grow(4)
dump("large")

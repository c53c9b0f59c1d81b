-- Traces: flushed, reused, side, stitched, recursive; sinking; errors.

local H = require("harness")
if not H.jit then H.skip("only for the JIT compiler") end

-- Compiles several templates, each in a chunk of its own. Their lines, and so
-- their tags, must not overlap.
local function codes(templates)
  local list, lines = {}, 0
  for i, t in ipairs(templates) do
    list[i] = H.code(("\n"):rep(lines) .. t, "@jit" .. i .. ".lua")
    lines = lines + select(2, t:gsub("\n", "")) + 1
  end
  return list
end

-- Records run(fns), checks the tags of all. Returns the stream. Whether a loop
-- is compiled is up to chance, but not for all of many loops.
local function try_all(templates, run, opt)
  local list = codes(templates)
  local fns = {}
  for i, code in ipairs(list) do fns[i] = code.fn end
  local s = H.record(function() run(fns) end, opt)
  local total, traced = 0, 0
  for _, code in ipairs(list) do
    local n, t = H.check_tags(s, code)
    total, traced = total + n, traced + t
  end
  H.ok(total > 0, "no tagged allocation was seen")
  if H.format ~= "rfc" and not (opt and opt.maybe) then
    H.ok(traced > total / 20, "only %d of %d were on traces", traced, total)
  end
  return s
end

local loop = [[
for i = 1, 50 do
  keep[1] = $cdata --x500
  keep[2] = $string --x500
end]]

H.case("jit.flush() again and again: trace numbers are used again", function()
  local s = try_all({ loop, loop, loop, loop }, function(fns)
    for round = 1, 10 do
      for i = 1, #fns do
        fns[i]()
        if (round + i) % 2 == 0 then jit.flush() end
      end
    end
  end)
  if H.format == "tarantool" then
    local chunks = {}
    for _, e in ipairs(s.events) do
      if e.site.source == "trace" then
        local no = e.site.traceno
        chunks[no] = chunks[no] or {}
        chunks[no][e.site.chunk] = true
      end
    end
    local reused = 0
    for _, c in pairs(chunks) do
      if next(c, next(c)) then reused = reused + 1 end
    end
    H.ok(reused > 0, "no trace number was used for two chunks")
  end
end)

H.case("jit.flush() inside the loop, and of one function", function()
  H.try([[
local function f(i)
  keep[1] = $cdata --x200
  if i % 50 == 0 then jit.flush() end
  keep[2] = $string --x200
end
for i = 1, 200 do
  f(i)
  keep[3] = $concat --x200
  if i % 70 == 0 then jit.flush(f) jit.off(f) jit.on(f) end
end]])
end)

H.case("few traces are allowed: all are flushed when they run out", function()
  jit.opt.start("maxtrace=16")
  local templates = {}
  for i = 1, 12 do templates[i] = loop end
  try_all(templates, function(fns)
    for _ = 1, 10 do
      for i = 1, #fns do fns[i]() end
    end
  end)
  jit.opt.start("maxtrace=1000")
end)

H.case("side traces", function()
  try_all({ [[
for i = 1, 400 do
  if i % 2 == 0 then
    keep[1] = $cdata --x200
  elseif i % 3 == 0 then
    keep[2] = $string --x67
  else
    keep[3] = $array --x133
  end
  if i % 5 == 0 then keep[4] = $concat end --x80
end]] }, function(fns) fns[1]() end, { maybe = true })
end)

H.case("stitched traces", function()
  try_all({ [[
for i = 1, 200 do
  keep[1] = $cdata --x200
  local t = os.clock()
  keep[2] = $string --x200
  local f = io.type(t)
  keep[3] = $concat --x200
  local ok = pcall(error, keep)
  keep[4] = $array --x200
end]] }, function(fns) fns[1]() end, { maybe = true })
end)

H.case("recursion, up and down", function()
  H.try([[
local function down(n)
  if n == 0 then return 0 end
  keep[1] = $cdata --x600
  return 1 + down(n - 1)
end
local function up(n)
  keep[2] = $string --x630
  if n == 0 then return 0 end
  local r = up(n - 1)
  keep[3] = $concat --x600
  return r
end
local function tail(n)
  keep[4] = $array --x630
  if n == 0 then return 0 end
  return tail(n - 1)
end
for i = 1, 30 do
  down(20)
  up(20)
  tail(20)
end]])
end)

H.case("allocations are sunk, and made at an exit", function()
  H.try([[
local function point(x, y)
  return { x = x, y = y }
end
local sum, last = 0, nil
for i = 1, 300 do
  local p = point(i, -i)
  local q = { p.x + 1, p.y }
  sum = sum + q[1] + q[2]
  if i % 100 == 0 then
    last = { p, q }
    keep[1] = $cdata --x*
  end
end
for i = 1, 300 do
  keep[2] = $string --x300
  local t = $table --x*
  if i % 97 == 0 then keep[3] = t end
end
assert(sum == 300)]])
end)

H.case("pairs, repeat-until, nested loops", function()
  H.try([[
local t = {}
for i = 1, 30 do t["k" .. i] = i end
for round = 1, 10 do
  local n = 0
  for k, v in pairs(t) do
    keep[1] = $cdata --x300
    n = n + v
  end
  for k, v in next, t do
    keep[2] = $string --x300
  end
  repeat
    n = n - 31
    keep[3] = $concat --x150
  until n <= 0
  for i = 1, 5 do
    for j = 1, 6 do
      keep[4] = $array --x300
    end
  end
end]])
end)

H.case("errors on a trace", function()
  H.try([[
local function work(n)
  for i = 1, n do
    keep[1] = $cdata --x*
    if i == n then
      keep[2] = $string --x20
      error($array) --x20
    end
  end
end
for i = 1, 20 do
  local ok = pcall(work, 60)
  keep[3] = $concat --x20
end
local function index(t)
  for i = 1, 100 do
    keep[4] = $cdata --x*
    local x = t[i].field
  end
end
local objects = {}
for i = 1, 99 do objects[i] = { field = i } end
for i = 1, 10 do
  pcall(index, objects)
  keep[3] = $table --x10
end]])
end)

H.case("functions of other chunks on one trace", function()
  -- Without line-precise snapshots it may be the wrong one of the two, but it
  -- must say that it is approximate.
  local callee = H.code("\n\n\n\nreturn function()\nkeep[1] = $cdata --x*\nend", "@callee.lua")
  local fn = callee.fn()
  local s = H.record(function()
    for i = 1, 300 do
      fn()
      fn(i)
    end
  end)
  local n = 0
  for _, e in ipairs(s.events) do
    if callee.tags[e.nsize] and e.kind == "alloc" then
      n = n + 1
      if H.format ~= "rfc" then
        H.ok(e.site.approx or (e.site.chunk == "@callee.lua" and e.site.line == 7),
             "event at %s", H.describe(e.site))
      end
    end
  end
  H.ok(n >= 600, "%d allocations", n)
end)

H.case("collections and finalizers between traces", function()
  H.try([[
local n = 0
local function fin() n = n + 1 keep[1] = { n } end
for i = 1, 2000 do
  local u = newproxy(true)
  getmetatable(u).__gc = fin
  keep[2] = $concat --x2000
  keep[3] = tostring(i) .. "s"
end
collectgarbage()]])
end)

for _, level in ipairs({ "1", "2", "3", "-sink", "-cse", "-fuse", "-fold" }) do
  H.case("optimization " .. level, function()
    jit.opt.start(level)
    jit.opt.start("hotloop=4", "hotexit=3")
    jit.flush()
    try_all({ loop }, function(fns)
      for _ = 1, 10 do fns[1]() end
    end)
    jit.opt.start("3", "hotloop=4", "hotexit=3")
  end)
end

H.done()

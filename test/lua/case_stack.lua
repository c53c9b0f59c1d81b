-- Full stacks, frame by frame as the debug library tells them. A program runs
-- twice, each time the same: first interpreted, while snap() asks the debug
-- library for the stack before each tagged allocation, then as the test is to
-- run, while snap() does nothing.

local H = require("harness")
if not H.compact then H.skip("only the compact format has stacks") end
if not H.has_ffi then H.skip("the tags need the ffi library") end

local getinfo, running = debug.getinfo, coroutine.running

-- What the debug library tells -------------------------------------------------

local chain, taken -- Coroutines that resumed others; stacks by tag.

-- A frame as text.
local function frame_text(i)
  if i.what == "C" then return "[C]" end
  return string.format("%s:%d:%d", i.source, i.linedefined, i.currentline)
end

-- Adds a thread's frames, innermost first. level is the first one's.
local function add_frames(list, thread, level)
  while true do
    local i
    if thread then i = getinfo(thread, level, "Sl") else i = getinfo(level, "Sl") end
    if not i then break end
    list[#list + 1] = frame_text(i)
    level = level + 1
  end
end

local function take(size)
  local list = {}
  add_frames(list, nil, 5) -- Above: this, add_frames(), snap() twice.
  for n = #chain, 1, -1 do
    if type(chain[n]) == "thread" then
      add_frames(list, chain[n], 0)
    else -- The main one, when it was about to resume.
      for _, text in ipairs(chain[n]) do list[#list + 1] = text end
    end
  end
  local of_tag = taken[size] or {}
  taken[size] = of_tag
  of_tag[#of_tag + 1] = list
end
H.off(take)

-- What the recording tells -----------------------------------------------------

local seen_c = {} -- Names of C functions.

local function site_text(s)
  if s.source == "c" then
    seen_c[s.symbol or "?"] = true
    return "[C]"
  end
  if s.source ~= "lua" then return s.source end
  return string.format("%s:%d:%d", s.chunk, s.first, s.line)
end

-- The stack of an event, innermost first.
local function event_stack(e)
  local list = { site_text(e.site) }
  for n = #e.callers, 1, -1 do list[#list + 1] = site_text(e.callers[n]) end
  return list
end

-- The same for both -------------------------------------------------------------

local function same(got, want, depth, cut)
  local n = math.min(#want, depth)
  if #got ~= n or cut ~= (#want > depth) then return false end
  for i = 1, n do
    if got[i] ~= want[i] then return false end
  end
  return true
end

local compared, traced, inlined = 0, 0, 0

local function check(s, code, depth)
  local nth = {}
  for i, e in ipairs(s.events) do
    local tag = e.kind == "alloc" and code.tags[e.nsize]
    if tag then
      local size = e.nsize
      nth[size] = (nth[size] or 0) + 1
      local want = taken[size] and taken[size][nth[size]]
      local got = e.callers and event_stack(e)
      compared = compared + 1
      if e.site.traced then traced = traced + 1 end
      for _, c in ipairs(e.callers or {}) do
        if c.traced then inlined = inlined + 1 break end
      end
      if not (want and got and same(got, want, depth, e.callers.cut)) then
        H.ok(false, "event %d (%d of line %d), depth %d%s:\n  got  %s\n  want %s", i,
             nth[size], tag.line, depth, e.callers and e.callers.cut and " cut" or "",
             got and table.concat(got, " ") or H.describe(e.site),
             want and table.concat(want, " ") or "nothing")
      else
        H.ok(true, "")
      end
    end
  end
  for size, list in pairs(taken) do
    H.eq(nth[size] or 0, #list, "number of allocations of line %d", code.tags[size].line)
  end
end

-- Each line with a tag gets a call of snap() before it.
local function with_snaps(template)
  local n = 1
  return (template:gsub("([^\n]*)\n?", function(line)
    n = n + 1
    if not line:find("$cdata", 1, true) then return line .. "\n" end
    return "snap(" .. n .. ") " .. line .. "\n"
  end))
end

local function try(template, env)
  local snap, go_push, go_pop = nil, nil, nil
  env = env or {}
  env.snap = function(line) snap(line) end
  env.push = function() go_push() end
  env.pop = function() go_pop() end
  local code = H.code(with_snaps(template), "@stack.lua", env)
  local sizes = {}
  for size, tag in pairs(code.tags) do sizes[tag.line] = size end
  local function nothing() end
  chain, taken = {}, {}
  for _, depth in ipairs { 0, 256, 64, 16, 5, 2 } do
    local jit_was = H.jit
    if depth == 0 then
      snap = H.off(function(line) take(sizes[line]) end)
      go_push = function()
        local link = running()
        if not link then
          link = { "[C]" }
          add_frames(link, nil, 4)
        end
        chain[#chain + 1] = link
      end
      go_pop = function() chain[#chain] = nil end
      H.jit = false
    else
      snap, go_push, go_pop = nothing, nothing, nothing
    end
    local s = H.record(code.fn, { stack = depth == 0 and 256 or depth, unknown = env.unknown })
    H.jit = jit_was
    check(s, code, depth == 0 and 256 or depth)
  end
end

H.case("calls and returns", function()
  try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function mid(n)
      local a = leaf(n)
      keep[2] = $cdata --x*
      return a + leaf(n)
    end
    local function top(n)
      local s = 0
      for i = 1, 3 do
        s = s + mid(i)
        s = s +
          leaf(i)
      end
      return s
    end
    for i = 1, 60 do top(i) end
    for i = 1, 60 do mid(i); leaf(i) end
  ]])
end)

H.case("recursion", function()
  try([[
    local function down(n)
      if n == 0 then
        keep[1] = $cdata --x*
        return 0
      end
      local a = down(n - 1)
      keep[2] = $cdata --x*
      return a + 1
    end
    for i = 1, 40 do down(i % 37) end
    for i = 1, 30 do down(90) end
    local function tree(d)
      if d == 0 then return 1 end
      local l = tree(d - 1)
      keep[3] = $cdata --x*
      return l + tree(d - 1)
    end
    for i = 1, 5 do tree(7) end
  ]])
end)

H.case("varargs, tail calls, builtins in between", function()
  try([[
    local function leaf(...)
      keep[1] = $cdata --x*
      return select("#", ...)
    end
    local function va(...)
      return (leaf(...)) + leaf(1, ...)
    end
    local function tail(...)
      return va(...)
    end
    local function out(n)
      local a = tail(n, n, n)
      local ok, b = pcall(va, n)
      local ok2, c = xpcall(function() return va(n, 2) end, print)
      return a + b + c
    end
    for i = 1, 50 do out(i) end
    local t = {}
    for i = 1, 20 do
      for k = 1, 6 do t[k] = (k * 7) % 5 end
      table.sort(t, function(a, b)
        keep[2] = $cdata --x*
        return a < b
      end)
      string.gsub("abc", "%w", function(c) leaf(c) end)
    end
  ]])
end)

H.case("metamethods and iterators", function()
  try([[
    local function make()
      keep[1] = $cdata --x*
      return 1
    end
    local mt = {
      __index = function(t, k) return make() + 0 end,
      __newindex = function(t, k, v) make() end,
      __add = function(a, b) return make() + 0 end,
      __concat = function(a, b) make() return "x" end,
      __eq = function(a, b) make() return true end,
      __lt = function(a, b) make() return true end,
      __le = function(a, b) make() return true end,
      __unm = function(a) return make() + 0 end,
      __call = function(self, n) return make() + n end,
      __len = function(a) return make() + 0 end,
    }
    local a, b = setmetatable({}, mt), setmetatable({}, mt)
    local function iter(_, i)
      keep[2] = $cdata --x*
      if i < 3 then return i + 1 end
    end
    for i = 1, 40 do
      local s = a.x
      a.y = 1
      s = s + (a + b)
      local c = a .. b
      local d = a == b
      local e = a < b
      local f = a <= b
      s = -a
      s = a(1)
      for i in iter, nil, 0 do s = s + i end
    end
  ]])
end)

H.case("coroutines", function()
  try([[
    local function leaf()
      keep[1] = $cdata --x*
    end
    local function run(co, ...)
      push() local ok, v = coroutine.resume(co, ...)
      pop()
      if not ok then error(v) end
      return v
    end
    local function deep(n)
      if n > 0 then return (deep(n - 1)) end
      leaf()
      coroutine.yield(1)
      leaf()
      return 2
    end
    local function body(n)
      for i = 1, 3 do
        leaf()
        deep(i)
        pcall(deep, 2)
      end
      local inner = coroutine.create(function() deep(2) leaf() end)
      run(inner)
      leaf()
      run(inner)
    end
    for i = 1, 10 do
      local a, b = coroutine.create(body), coroutine.create(body)
      for k = 1, 7 do
        run(a)
        leaf()
        run(b)
      end
    end
    local w = coroutine.wrap(function() while true do leaf() coroutine.yield() end end)
    local function call() push() w() pop() end
    for i = 1, 30 do call() end
  ]])
end)

H.case("names of builtins", function()
  for _, name in ipairs { "pcall", "xpcall", "table.sort", "string.gsub", "coroutine.resume",
                          "coroutine.wrap_aux" } do
    H.ok(seen_c[name], "%s was not seen", name)
  end
end)

H.case("what allocates is compiled", function()
  if not H.jit then return end
  H.ok(traced > compared / 10, "%d of %d were on traces", traced, compared)
  H.ok(inlined > 100, "%d of %d were in inlined functions", inlined, compared)
end)

H.done()

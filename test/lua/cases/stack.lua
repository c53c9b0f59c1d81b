-- Full stacks, frame by frame as the debug library tells them: see stacks.lua.

local H = require("harness")
if not H.compact then H.skip("only the compact format has stacks") end
if not H.has_ffi then H.skip("the tags need the ffi library") end

local S = require("stacks")

H.case("calls and returns", function()
  S.try([[
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
  S.try([[
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
  S.try([[
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
  S.try([[
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

-- Nothing but the PC beside their continuation tells the calls apart.
H.case("the same metamethod on many lines", function()
  S.try([[
    local t = setmetatable({}, {
      __index = function(t, k)
        keep[1] = $cdata --x*
        return 1
      end,
    })
    local function f()
      local a = t.x
      local b = t.y
      if a == b then
        a = t.z
      end
      return a
    end
    for i = 1, 60 do f() end
  ]])
end)

-- Both call back from the same slot, so that only their names differ.
H.case("other functions where a stack is cut", function()
  local code = H.code([[
    local function back()
      keep[1] = $cdata --x*
      return false
    end
    local function f(t)
      table.sort(t, back)
      string.gsub("ab", "%w", back, 1)
    end
    for i = 1, 60 do f({ 1, 2 }) end
  ]], "@cut.lua")
  for depth = 2, 3 do
    local names, n = {}, 0
    for _, e in ipairs(H.record(code.fn, { stack = depth }).events) do
      if e.kind == "alloc" and code.tags[e.nsize] then
        local name = e.callers[#e.callers].symbol
        names[name] = (names[name] or 0) + 1
        n = n + 1
      end
    end
    H.eq(n, 120, "events")
    H.eq(names["table.sort"], 60, "calls by table.sort, depth %d", depth)
    H.eq(names["string.gsub"], 60, "calls by string.gsub, depth %d", depth)
  end
end)

H.case("coroutines", function()
  S.try([[
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
  for _, name in ipairs { "pcall", "xpcall", "table.sort", "string.gsub", "coroutine.resume" } do
    H.ok(S.seen_c[name], "%s was not seen", name)
  end
  -- No module has this one: it has its symbol, as in CPU profiles. A
  -- distribution's VM has no symbols.
  if not H.module then
    H.ok(S.seen_c["lj_ffh_coroutine_wrap_aux"], "coroutine.wrap's function was not seen")
  end
end)

H.case("what allocates is compiled", function()
  if not H.jit then return end
  H.ok(S.traced > S.compared / 10, "%d of %d were on traces", S.traced, S.compared)
  H.ok(S.inlined > 100, "%d of %d were in inlined functions", S.inlined, S.compared)
end)

H.done()

-- Stacks while code, coroutines and recordings come and go: see stacks.lua.

local H = require("harness")
if not H.compact then H.skip("only the compact format has stacks") end
if not H.has_ffi then H.skip("the tags need the ffi library") end

local S = require("stacks")

local function env()
  return { flush = H.has_jit and jit.flush or function() end }
end

H.case("traces that are flushed", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function mid(n)
      local a = leaf(n)
      if n == 7 then flush() end
      return a + leaf(n)
    end
    local function top(n)
      for i = 1, 3 do mid(n) end
      return mid(n) + 1
    end
    for i = 1, 300 do
      top(i % 31)
      if i % 40 == 0 then flush() end
    end
  ]], env())
end)

H.case("coroutines that generate, fail, and are forgotten", function()
  S.try([[
    local create, resume, wrap, yield = coroutine.create, coroutine.resume, coroutine.wrap, coroutine.yield
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function deep(n)
      if n > 0 then return 1 + deep(n - 1) end
      return leaf(n)
    end
    local function outer(me)
      local function gen()
        for i = 1, 5 do
          enter(me) deep(i)
          pop() yield(i)
        end
        enter(me) leaf(1)
        pop()
      end
      for v in wrap(gen) do leaf(v) end
      return leaf(1)
    end
    local function failing(n)
      deep(n)
      if n % 3 == 0 then yield(n) end
      leaf(n)
      if n % 2 == 0 then error("dead") end
      return undefined.field
    end
    local many = {}
    for i = 1, 60 do
      local co = create(outer)
      push() assert(resume(co, co))
      pop()
      local bad = create(failing)
      many[i % 4] = bad
      push() resume(bad, i)
      pop()
      leaf(i)
      local old = many[(i + 2) % 4]
      push() if old then resume(old) end
      pop()
      if i % 9 == 0 then many = {} collectgarbage() end
    end
  ]], env())
end)

H.case("functions at addresses of others", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    for i = 1, 400 do
      local lines = ("\n"):rep(i % 7)
      local text = lines .. "local leaf = ... local function f(n) \n if n > 0 then return 1 + f(n - 1) end" ..
                   " leaf(n) \n return 1 end " .. lines .. " return f(" .. i % 4 .. ") + leaf(1)"
      local fn = loadstring(text, "=gen" .. i % 5)
      fn(leaf)
      fn(leaf)
      fn = nil
      if i % 3 == 0 then collectgarbage() end
    end
  ]], env())
end)

H.case("deep stacks that grow and shrink", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function down(n, m)
      if n > 0 then down(n - 1, m) end
      if n % m == 0 then leaf(n) end
      return n
    end
    for i = 1, 3 do
      down(10000, 2500)
      leaf(i)
      down(200 * i, 30)
      local co = coroutine.create(down)
      push() assert(coroutine.resume(co, 300 * i, 50))
      pop()
      collectgarbage()
    end
  ]], env(), { depths = { 256, 64, 16, 2 } })
end)

H.case("closures of one prototype", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function maker(k)
      return function(n, how)
        if how == 1 then leaf(n) end
        if how == 2 then leaf(k) leaf(n) end
        if n > 3 then leaf(n) end
        if k > 5 then return leaf(n) + 1 end
        keep[2] = $cdata --x*
        return n
      end
    end
    local function through(f, n, how)
      if how == 2 then return f(n, how) + 1 end
      local a = f(n, how)
      if n == 5 then leaf(n) end
      return a + 1
    end
    local fs = {}
    for i = 1, 20 do fs[i] = maker(i % 9) end
    for i = 1, 900 do
      through(fs[i % 20 + 1], i % 7, i % 3)
    end
  ]], env())
end)

H.done()

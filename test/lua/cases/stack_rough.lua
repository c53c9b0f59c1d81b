-- Stacks under rough conditions: see stacks.lua.

local H = require("harness")
if not H.compact then H.skip("only the compact format has stacks") end
if not H.has_ffi then H.skip("the tags need the ffi library") end

local S = require("stacks")
local ffi = require("ffi")

ffi.cdef("void qsort(void *base, size_t n, size_t size, int (*compare)(const int *, const int *));")

local function env()
  return { nojit = H.off, ffi = ffi }
end

H.case("errors through protected calls", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local mt = { __tostring = function() leaf(1) return "text" end }
    local function fail(n, how)
      leaf(n)
      if n > 0 then return 1 + fail(n - 1, how) end
      if how == 0 then error("plain") end
      if how == 1 then error({}) end
      if how == 2 then error(setmetatable({ leaf(1) }, mt)) end
      if how == 3 then local a = nil + how end
      if how == 4 then string.rep() end
      if how == 5 then pcall(error) error() end
      return undefined.field
    end
    local function mid(n, how)
      local ok, err = pcall(fail, n, how)
      leaf(n)
      tostring(err)
      return 0 + leaf(n)
    end
    local function outer(n, how)
      local ok = pcall(pcall, pcall, fail, n, how)
      leaf(n)
      return mid(n, how) + 1
    end
    for i = 1, 60 do
      outer(i % 11, i % 7)
      leaf(i)
    end
  ]], env())
end)

H.case("handlers that allocate", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function handler(err)
      keep[2] = $cdata --x*
      leaf(1)
      return { err, pcall(error, leaf(2)) }
    end
    local function fail(n)
      if n > 0 then return 1 + fail(n - 1) end
      return undefined.field
    end
    local function nested(n)
      xpcall(fail, handler, n)
      leaf(n)
      return fail(n)
    end
    for i = 1, 60 do
      xpcall(nested, handler, i % 9)
      leaf(i)
    end
  ]], env())
end)

H.case("hooks that allocate", function()
  S.try([[
    local info, hook = debug.getinfo, debug.sethook
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function target(n)
      local a = n + 1
      return a + leaf(n)
    end
    local function deep(n)
      if n > 0 then return 1 + deep(n - 1) end
      return target(n)
    end
    local function on_call(why)
      if info(2, "f").func == target then
        keep[2] = $cdata --x*
        leaf(1)
      end
    end
    local target_line = info(target, "S").linedefined + 1
    local function on_line(why, line)
      if line == target_line and info(2, "f").func == target then
        keep[3] = $cdata --x*
        leaf(2)
      end
    end
    nojit(target) nojit(deep) nojit(on_call) nojit(on_line)
    for i = 1, 40 do
      hook(on_call, i % 2 == 0 and "c" or "cr")
      deep(i % 5)
      hook(on_line, "l")
      deep(i % 7)
      hook()
      deep(i % 3)
    end
  ]], env())
end)

H.case("count hooks", function()
  S.try([[
    local hook, nth = debug.sethook, 0
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function on_count()
      keep[2] = $cdata --x*
      nth = nth + 1
    end
    local function deep(n)
      leaf(n)
      if n > 0 then return 1 + deep(n - 1) end
      return 1
    end
    for i = 1, 40 do
      hook(on_count, "", 1 + i * 7 % 50)
      deep(i % 7)
      hook()
      deep(3)
    end
  ]], env(), { varies = true, anywhere = { ["@stack.lua:7"] = true } })
end)

H.case("finalizers that allocate", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function last()
      keep[2] = $cdata --x*
    end
    local function final(o)
      keep[3] = $cdata --x*
      last()
      pcall(last)
    end
    local function make(n)
      local p = newproxy(true)
      getmetatable(p).__gc = final
      keep[4] = ffi.gc(ffi.new("char[?]", 10 + n), final)
      return leaf(n)
    end
    local function deep(n)
      make(n)
      if n > 0 then return 1 + deep(n - 1) end
      return n
    end
    for i = 1, 150 do
      deep(i % 13)
      if i % 4 == 0 then
        local co = coroutine.create(deep)
        push() coroutine.resume(co, 5)
        pop()
      end
      if i % 50 == 0 then collectgarbage() end
    end
  ]], env(), { varies = true, anywhere = { ["@stack.lua:9"] = true } })
end)

H.case("callbacks", function()
  S.try([[
    local function leaf(n)
      keep[1] = $cdata --x*
      return n
    end
    local function compare(a, b)
      keep[2] = $cdata --x*
      leaf(1)
      return a[0] - b[0]
    end
    local cb = ffi.cast("int (*)(const int *, const int *)", compare)
    local function sort(n)
      local v = ffi.new("int[8]", { 5, 3, 8, n, 1, 9, 2, 7 })
      ffi.C.qsort(v, 8, 4, cb)
      return leaf(n)
    end
    nojit(sort)
    local function deep(n)
      if n > 0 then return 1 + deep(n - 1) end
      return sort(n)
    end
    for i = 1, 40 do
      deep(i % 6)
      leaf(i)
      local co = coroutine.create(deep)
      push() assert(coroutine.resume(co, 3))
      pop()
    end
    cb:free()
  ]], env())
end)

H.done()

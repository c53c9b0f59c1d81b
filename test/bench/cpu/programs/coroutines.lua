-- Coroutines in coroutines in coroutines, with C frames between, and resumed
-- by Lua's own resume.
local truth = require("truth")
local cbench = require("cbench")

local function inner60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function inner40(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function third(n)
  local x = inner60(n)
  return x + 1
end

local function second(n)
  cbench.resume(third, n)
  return n
end

local function first(n)
  cbench.resume(second, n)
  return n
end

local function enter60(n)
  cbench.resume(first, n)
  return n
end

local function body3(n) while true do local x = inner40(n) n = coroutine.yield(x) end end
local co3 = coroutine.wrap(body3)
local function body2(n) while true do local x = cbench.call(co3, n) n = coroutine.yield(x) end end
local co2 = coroutine.wrap(body2)
local function body1(n) while true do local x = co2(n) n = coroutine.yield(x) end end
local co1 = coroutine.create(body1)

local function enter40(n)
  local _, x = coroutine.resume(co1, n)
  return x
end

local function main()
  truth.measure({
    { "inner60", 6, inner60, call = enter60 }, { "inner40", 4, inner40, call = enter40 },
  })
end

truth.chain("main", "enter60", "c:cb_resume", "first", "c:cb_resume", "second", "c:cb_resume", "third", "inner60")
truth.chain("main", "enter40", "body1", "body2", "c:cb_call", "body3", "inner40")
main()

-- What branchy.lua and arithmetic.lua share: a loop that calls three functions
-- so small that the compiler inlines them. Their time cannot be measured one by
-- one, but they do the same step 12, 6 and 2 times, each waiting for the one
-- before. What a step takes is told by a fourth one, with 24 of them; the rest
-- is for calls: 13 bytecodes of the loop's, 6 of the functions'.
local truth = require("truth")
local cbench = require("cbench")

local function loop(n, a, b, c)
  local x = 1
  for _ = 1, n do
    x = a(x)
    x = b(x)
    x = c(x)
  end
  return x
end

-- The function `name`, of `count` steps, each on a line of its own.
local function make(name, count, step, ...)
  local source = ("local u, v = ... local function %s(x)\n%sreturn x\nend return %s")
    :format(name, (step .. "\n"):rep(count), name)
  return assert(loadstring(source, "=" .. name))(...)
end

local function time(a, b, c)
  jit.flush() -- Or the loop is compiled as a side trace of another one.
  loop(1000, a, b, c)
  local start = cbench.cpu()
  loop(100000, a, b, c)
  return cbench.cpu() - start
end

-- The share of calls: of loop(), a, b and c, all but the steps.
local function share_of_calls(twice, a, b, c)
  local share = {}
  for i = 1, 9 do
    local once = time(a, b, c)
    local steps = (time(twice, b, c) - once) * 20 / 12
    share[i] = math.max(0, 1 - steps / once)
  end
  jit.flush()
  table.sort(share)
  return share[5]
end

-- Measures the functions a60, b30 and c10. Source of a step, and what it has as
-- u and v.
return function(step, ...)
  local a, b, c = make("a60", 12, step, ...), make("b30", 6, step, ...), make("c10", 2, step, ...)
  local calls = share_of_calls(make("twice", 24, step, ...), a, b, c)
  local steps, enter = 1 - calls, calls * 2 / 19
  local function inline(n)
    local x = loop(n, a, b, c)
    return x + 1
  end
  truth.chain("inline", "loop", "a60")
  truth.chain("inline", "loop", "b30")
  truth.chain("inline", "loop", "c10")
  truth.chain("inline", "loop")
  truth.measure({
    { "loop", 10, a, call = inline, lines = {}, parts = {
      loop = { calls * 13 / 19, loop }, a60 = { steps * 0.6 + enter, a },
      b30 = { steps * 0.3 + enter, b }, c10 = { steps * 0.1 + enter, c },
    } },
  })
end

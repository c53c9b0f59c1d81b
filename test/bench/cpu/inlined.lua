-- What branchy.lua and arithmetic.lua share: a loop that calls three functions
-- so small that the compiler inlines them. Their time cannot be measured, but
-- they do the same thing 6, 3 and 1 times, each waiting for the one before.
-- What the loop itself takes is measured with functions that do nothing: they
-- run 6 bytecodes (to enter, to return), the loop 13.
local truth = require("truth")
local cbench = require("cbench")

local function empty(x)
  return x
end

local function loop(n, a, b, c)
  local x = 1
  for _ = 1, n do
    x = a(x)
    x = b(x)
    x = c(x)
  end
  return x
end

local function share_of_loop(a, b, c)
  local took = {}
  for i = 1, 5 do
    loop(1000, empty, empty, empty)
    local start = cbench.cpu()
    loop(300000, empty, empty, empty)
    local middle = cbench.cpu()
    jit.flush() -- Or the loop is compiled as a side trace of this one.
    loop(1000, a, b, c)
    local again = cbench.cpu()
    loop(300000, a, b, c)
    took[i] = (middle - start) / (cbench.cpu() - again)
    jit.flush()
  end
  table.sort(took)
  return took[3]
end

-- Measures functions of the names a60, b30 and c10.
return function(a, b, c)
  local rest = share_of_loop(a, b, c)
  local call, enter = 1 - rest, rest * 2 / 19
  local function inline(n)
    local x = loop(n, a, b, c)
    return x + 1
  end
  truth.measure({
    { "loop", 10, a, call = inline, lines = {}, parts = {
      loop = { rest * 13 / 19, loop }, a60 = { call * 0.6 + enter, a },
      b30 = { call * 0.3 + enter, b }, c10 = { call * 0.1 + enter, c },
    } },
  })
end

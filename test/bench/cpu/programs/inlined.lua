-- What branchy.lua and arithmetic.lua share: a loop that calls three functions
-- so small that the compiler inlines them. Their time cannot be measured one by
-- one, but they do the same step 24, 12 and 4 times, each waiting for the one
-- before. On a trace that is all there is; in the interpreter, calls take about
-- a percent, which is not in the truth.
local truth = require("truth")

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

-- Measures the functions a60, b30 and c10. Source of a step, and what it has as
-- u and v.
return function(step, ...)
  local a, b, c = make("a60", 24, step, ...), make("b30", 12, step, ...), make("c10", 4, step, ...)
  local function inline(n)
    local x = loop(n, a, b, c)
    return x + 1
  end
  truth.chain("inline", "loop", "a60")
  truth.chain("inline", "loop", "b30")
  truth.chain("inline", "loop", "c10")
  truth.chain("inline", "loop")
  truth.measure({
    { "inlined", 10, a, call = inline, lines = {}, parts = {
      a60 = { 0.6, a }, b30 = { 0.3, b }, c10 = { 0.1, c }, loop = { 0, loop },
    } },
  })
end

-- Closures and objects made of them. arg[1]: the rounds.

local rounds = tonumber(arg and arg[1]) or 1500

local function counter(start)
  local n = start
  return {
    add = function(k) n = n + k return n end,
    get = function() return n end,
    fork = function() return counter and n or 0 end,
  }
end

local function compose(f, g)
  return function(x) return f(g(x)) end
end

local function memoize(f)
  local cache = {}
  return function(x)
    local v = cache[x]
    if v == nil then
      v = f(x)
      cache[x] = v
    end
    return v
  end
end

local sum = 0
for r = 1, rounds do
  local c = counter(r)
  local f = function(x) return x end
  for i = 1, 20 do
    local k = i * r % 7
    f = compose(function(x) return x + k end, f)
    c.add(k)
  end
  local fib
  fib = memoize(function(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end)
  sum = (sum + f(r) + c.get() + c.fork() + fib(r % 40)) % 1000000007
end
print("closures", sum)

-- Coroutines: each yields a few values, makes closures and dies young.

local ROUNDS = tonumber((...)) or 400000

local function numbers(n)
  return coroutine.wrap(function()
    for i = 1, n do
      coroutine.yield(function() return i end)
    end
  end)
end

local sum = 0
for round = 1, ROUNDS do
  for f in numbers(round % 4 + 1) do
    sum = sum + f()
  end
end
print(sum)

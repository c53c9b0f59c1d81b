-- Coroutines: generators, a scheduler, errors. arg[1]: the rounds.

local rounds = tonumber(arg and arg[1]) or 200

local function primes(n)
  return coroutine.wrap(function()
    for i = 2, n do
      local prime = true
      for j = 2, math.floor(math.sqrt(i)) do
        if i % j == 0 then prime = false break end
      end
      if prime then coroutine.yield(i) end
    end
  end)
end

local function schedule(tasks)
  local steps = 0
  while #tasks > 0 do
    for i = #tasks, 1, -1 do
      local ok, value = coroutine.resume(tasks[i])
      steps = steps + (type(value) == "number" and value or 1)
      if not ok or coroutine.status(tasks[i]) == "dead" then table.remove(tasks, i) end
    end
  end
  return steps
end

local sum, failed = 0, 0
for r = 1, rounds do
  for p in primes(100 + r) do sum = sum + p end
  local tasks = {}
  for i = 1, 20 do
    tasks[i] = coroutine.create(function()
      for k = 1, i do
        coroutine.yield(k)
        if k == 15 and i % 5 == 0 then failed = failed + 1 error({ k }) end
      end
      return i
    end)
  end
  sum = sum + schedule(tasks)
end
print("coroutines", sum, failed)

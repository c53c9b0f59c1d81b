-- Closures: two functions and an upvalue a round, most of them short-lived.

local ROUNDS = tonumber((...)) or 4000000

local function counter(start)
  local value = start
  local function step(by)
    value = value + by
    return value
  end
  local function get()
    return value
  end
  return step, get
end

local sum, kept = 0, {}
for i = 1, ROUNDS do
  local step, get = counter(i)
  step(1)
  sum = sum + get()
  if i % 64 == 0 then
    kept[i / 64 % 1000 + 1] = get
  end
end
print(sum)

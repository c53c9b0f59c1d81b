-- Deep stacks: small objects made 36 calls deep, in functions that return a
-- few levels at a time and are called again.

local DEPTH = tonumber((...)) or 36

local kept = {}

local function leaf(i)
  local point = { x = i, y = i + 1 }
  kept[i % 64 + 1] = point
  local name = "p" .. i % 4096
  return point.x + #name
end

local function walk(depth, i)
  local sum
  if depth == 0 then
    sum = leaf(i)
    for k = 1, 3 do
      sum = sum + leaf(i + k)
    end
    return sum
  end
  sum = walk(depth - 1, i)
  if depth < 4 then -- Come back for more, near the top of the stack.
    sum = sum + walk(depth - 1, i + depth)
  end
  return sum
end

local sum = 0
for i = 1, 72000 do
  sum = sum + walk(DEPTH - 2, i)
end
print(sum)

-- Binary trees: many small tables, short lives, deep recursion.

local BITS = tonumber((...)) or 20 -- 2^BITS leaves of each depth.

local function grow(depth)
  if depth == 0 then
    return {}
  end
  return {grow(depth - 1), grow(depth - 1)}
end

local function count(tree)
  if tree[1] then
    return 1 + count(tree[1]) + count(tree[2])
  end
  return 1
end

local long, sum = grow(16), 0
for depth = 4, 16, 4 do
  for _ = 1, 2 ^ (BITS - depth) do
    sum = sum + count(grow(depth))
  end
end
print(count(long), sum)

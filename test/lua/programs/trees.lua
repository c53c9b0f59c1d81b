-- Binary trees: many small tables, long and short lived. arg[1]: the depth.

local depth = tonumber(arg and arg[1]) or 11

local function bottom_up(d)
  if d == 0 then return { false, false } end
  return { bottom_up(d - 1), bottom_up(d - 1) }
end

local function check(tree)
  if not tree[1] then return 1 end
  return 1 + check(tree[1]) + check(tree[2])
end

local long_lived = bottom_up(depth)
for d = 4, depth, 2 do
  local n, sum = 2 ^ (depth - d + 4), 0
  for _ = 1, n do sum = sum + check(bottom_up(d)) end
  print(n, d, sum)
end
print("long lived", check(long_lived))

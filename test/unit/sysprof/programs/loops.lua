-- Loops of one line each: the code of each is of that line, to its last byte.

local function loops(n)
  local x = 0
  for i = 1, n do x = x + i end
  for i = 1, n do x = x * 0.5 + i end
  for i = n, 1, -2 do x = x - i end
  for _, v in ipairs({ 1, 2, 3 }) do x = x + v end
  return x
end

for _ = 1, 200 do loops(200) end
os.execute("kill -STOP $PPID")

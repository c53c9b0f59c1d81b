-- Becomes stripped bytecode: its functions are without lines and names.
local function a(n)
  local x = 0
  for i = 1, n do x = x + i % 7 end
  return { x }
end

local function b(n)
  local x = 1
  for i = 1, n do x = x + i % 9 end
  return { x, n }
end

return { a = a, b = b }

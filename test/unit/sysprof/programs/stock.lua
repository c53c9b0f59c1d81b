-- Stops itself in a known place, on LuaJIT of any version.

local function stop()
  os.execute("kill -STOP $PPID")
  return 1
end

local M = {}
function M.go()
  stop()
  return 2
end

for _ = 1, 2 do
  local r = pcall(M.go)
end
os.exit(0)

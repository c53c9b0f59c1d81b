-- Hangs in the way of its argument.
local ffi = require("ffi")
ffi.cdef("unsigned sleep(unsigned);")
local ways = {}

local function wait_for_upstream() ffi.C.sleep(1000) end

function ways.sleep()
  local function handler() wait_for_upstream() return 1 end
  handler()
  return 1
end

function ways.pipe()
  local function run_job()
    local pipe = io.popen("exec sleep 60 > /dev/null & exec sleep 60")
    local all = pipe:read("*a")
    return all
  end
  run_job()
  return 1
end

function ways.coroutine()
  local co = coroutine.create(function()
    local function deep() ffi.C.sleep(1000) return 1 end
    deep()
    return 1
  end)
  coroutine.resume(co)
  return 1
end

function ways.loop()
  local function quadratic()
    local n = 0
    while true do n = n + #tostring(n) end
  end
  jit.off(quadratic)
  quadratic()
  return 1
end

function ways.trace()
  local function tight()
    local x = 0
    for i = 1, 1e15 do x = x + i % 7 end
    return x
  end
  tight()
  return 1
end

io.stdout:write("hangs\n")
io.stdout:flush()
ways[arg[1]]()

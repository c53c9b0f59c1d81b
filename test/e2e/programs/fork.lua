-- Like split.lua, and starts processes all the time: by system(), and by fork()
-- without an exec.
local truth = require("truth")
local ffi = require("ffi")

ffi.cdef("int fork(void); void _exit(int); int waitpid(int, int *, int);")

local function burn60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function burn40(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local turn = 0
local function with_children(n)
  turn = turn + 1
  if turn % 10 == 0 then
    os.execute("true")
  elseif turn % 10 == 5 then
    local child = ffi.C.fork()
    if child == 0 then ffi.C._exit(0) end
    ffi.C.waitpid(child, nil, 0)
  end
  local x = burn40(n)
  return x + 1
end

local function main()
  truth.measure({
    { "burn60", 6, burn60 }, { "burn40", 4, burn40, call = with_children, calibrate = burn40 },
  })
end

truth.chain("main", "burn60")
truth.chain("main", "with_children", "burn40")
main()

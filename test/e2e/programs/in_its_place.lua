-- Works for a second in one library, and for seven in another at its addresses.
local ffi = require("ffi")
ffi.cdef("double work_one(long n); double work_two(long n);")

local dir, at = os.getenv("LIBRARIES"), {}
print("truth ready")
io.flush()
io.read()

local function work(name, seconds)
  local lib = ffi.load(dir .. "/" .. name .. ".so")
  local fn = lib["work_" .. name]
  at[name] = tonumber(ffi.cast("intptr_t", fn))
  local start = os.clock()
  repeat fn(1e6) until os.clock() > start + seconds
end

work("one", 1)
collectgarbage()
collectgarbage()
work("two", 7)
if at.one == at.two then print("same address") end

-- "table overflow", after some ten thousand maps of memory:
-- https://github.com/snabbco/snabb/issues/1405
--
-- Each declaration of a struct makes a C type, also if it has no name.
--
-- SAYS: is memory of the VM itself, "FFI: types"
-- SAYS: types of C are never freed

local ffi = require("ffi")

local function map(size)
  local ctype = ffi.typeof("struct { uint8_t value[" .. size .. "]; }") -- GUILTY
  return ffi.sizeof(ctype)
end

for size = 1, 8000 do map(size) end
dump()

-- Reads /dev/zero all the time: arg[1] seconds of CPU time, most of them in the
-- kernel's read, however long a system call takes there.
local ffi = require("ffi")
ffi.cdef [[
int open(const char *path, int flags);
long read(int fd, void *buf, size_t size);
]]

local fd, size = ffi.C.open("/dev/zero", 0), 4 * 2^20
local buf = ffi.new("char[?]", size)
local stop = os.clock() + arg[1]

local function fill(n)
  for _ = 1, n do
    ffi.C.read(fd, buf, size)
  end
end

repeat
  fill(10)
until os.clock() >= stop

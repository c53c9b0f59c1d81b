-- A function whose name cannot be read: the page that has it is nowhere, and who
-- reads it waits for ever, as nobody answers the page fault (userfaultfd). Uses
-- the CPU until it is ended.

local ffi = require("ffi")
ffi.cdef([[
long syscall(long n, ...);
int ioctl(int fd, unsigned long request, ...);
int madvise(void *p, size_t n, int advice);
]])

jit.off() -- Neither the compiler nor the collector may look at the name.
collectgarbage("stop")
local name = "@" .. ("x"):rep(2 ^ 20) -- As large as to have pages of its own.
local burn = load("local n = 0 while true do n = n + 1 end", name)
local page = ffi.cast("uintptr_t", ffi.cast("const char *", name)) / 4096 * 4096

local function check(failed, what)
  if failed then
    io.stderr:write(("%s: error %d\n"):format(what, ffi.errno()))
    os.exit(1)
  end
end

local fd = tonumber(ffi.C.syscall(323, 0x80000)) -- userfaultfd, O_CLOEXEC
check(fd < 0, "userfaultfd")
local api = ffi.new("uint64_t[3]", { 0xaa, 0, 0 })
check(ffi.C.ioctl(fd, 0xc018aa3fULL, api) ~= 0, "UFFDIO_API")
local range = ffi.new("uint64_t[4]", { page, 65536, 1, 0 }) -- Missing pages.
check(ffi.C.ioctl(fd, 0xc020aa00ULL, range) ~= 0, "UFFDIO_REGISTER")
check(ffi.C.madvise(ffi.cast("void *", page), 65536, 4) ~= 0, "MADV_DONTNEED")
io.stdout:write("ready\n")
io.stdout:flush()
burn()
